// SPDX-License-Identifier: Apache-2.0
// The cores that are next to a device, on a machine of several nodes of memory (NUMA).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace reel::worker {

// "0-3,8,10-11", as the kernel writes it. Empty for what is no such list.
std::set<int> CpusOf(absl::string_view list);

// Of the nodes that devices with these bus ids are at, as `system` (/sys) has them. Empty where the
// machine has one node, or does not say where one of them is.
std::set<int> CpusNear(const std::vector<std::string>& bus_ids, const std::string& system = "/sys");

// From here on this thread and all that it starts run on those of `cpus` that they may run on: the
// number of those. 0: nothing has changed, for there are none, or no others.
int StayOn(const std::set<int>& cpus);

}  // namespace reel::worker
