// SPDX-License-Identifier: Apache-2.0
// Opens a plug-in in a child process first: code that ends its process or crashes ends only the
// child.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/dispatch/plugin_source.h"

namespace reel::worker {

// The options of a probing child, as flags of reel-worker.
struct ProbeFlags {
  kernels::PluginSource plugin;
  std::string device = "cpu";
};

struct ProbeOptions {
  std::string program = "/proc/self/exe";  // reel-worker
  absl::Duration timeout = absl::Seconds(120);
};

// Runs `reel-worker --probe_plugin ...` to its end. FAILED_PRECONDITION: the child refused, with
// its text, ended by a signal, or did not end in time.
absl::Status ProbePlugin(const ProbeFlags& flags, const ProbeOptions& options = {});

// The child's part; returns the exit status. 0: the plug-in can be opened, and standard output says
// what it offers; 1: it cannot, and standard error says why, in one line.
int RunProbe(const ProbeFlags& flags);

}  // namespace reel::worker
