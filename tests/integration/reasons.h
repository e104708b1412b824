// SPDX-License-Identifier: Apache-2.0
// Provokes every error reason of running servers and records those that were heard.
#pragma once

#include <set>
#include <string>

namespace reel::tests {

using Reasons = std::set<std::string>;

// Each has servers of its own.
Reasons OfRequests();  // specs, names, metadata, bytes that are no request
Reasons OfVideos();    // what exists, has ended, or was somebody else's
Reasons OfCallers();   // tokens, roles, quotas
Reasons OfHttp();      // of the HTTP door alone
Reasons OfCapacity();  // queues, disks, devices, drains, deadlines
Reasons OfFaults();    // a device and a worker that fail in the middle
Reasons OfModels();    // that come, go and are replaced

}  // namespace reel::tests
