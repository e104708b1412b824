// SPDX-License-Identifier: Apache-2.0
// Workers as child processes of this one. There is one of these in a process: it reaps every child,
// since reeld may be PID 1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/front/workers/launcher.h"

namespace reel::front {

struct ProcessLauncherOptions {
  std::string binary;                        // reel-worker
  std::vector<std::string> extra_arguments;  // e.g. "--log_level=debug"
};

// Each child gets its token on an inherited pipe, no other descriptor of ours, default signal
// handlers, and asks for its end at ours. Its output goes line by line into our log.
std::unique_ptr<WorkerLauncher> MakeProcessLauncher(ProcessLauncherOptions options);

// "reel-worker" in the folder of the running program.
std::string WorkerBinaryBesideUs();

}  // namespace reel::front
