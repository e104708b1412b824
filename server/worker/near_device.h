// SPDX-License-Identifier: Apache-2.0
// Finds the cores next to a device on a machine of several NUMA nodes, and moves threads there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace reel::worker {

// Parses a list of the kernel, as "0-3,8,10-11". Empty if it is not one.
std::set<int> CpusOf(absl::string_view list);

// The cores of the nodes that devices with these bus ids are on, from `system` (/sys). Empty if the
// machine has one node, or a node is unknown.
std::set<int> CpusNear(const std::vector<std::string>& bus_ids, const std::string& system = "/sys");

// Restricts this thread and all that it starts to those of `cpus` that it may use, and returns
// their number. 0: nothing has changed, because there are none or no others.
int StayOn(const std::set<int>& cpus);

}  // namespace reel::worker
