// SPDX-License-Identifier: Apache-2.0
// Starting and ending workers: child processes in reeld, scripts in tests. reeld has one launcher
// of processes: it reaps every child, since reeld may be PID 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reel::front {

struct LaunchRequest {
  std::string worker;  // its name
  std::string device;  // "cpu", "cuda:0", "cuda:0+cuda:1"
  std::string socket;  // where it dials
  std::string token;   // what it says there
};

// An end: with a status, or by a signal.
struct WorkerExit {
  int64_t id = 0;
  int status = 0;
  int signal = 0;  // 0: it ended by itself
};

// Confined to the supervisor's thread, but for Wake.
class WorkerLauncher {
 public:
  virtual ~WorkerLauncher() = default;
  // Returns an id that stays its own until its exit has been handed out.
  virtual absl::StatusOr<int64_t> Launch(const LaunchRequest& request) = 0;
  // SIGKILL. Harmless after its end.
  virtual void Kill(int64_t id) = 0;
  // Until a worker ends, Wake, or the timeout; hands out ends once each.
  virtual std::vector<WorkerExit> Wait(absl::Duration timeout) = 0;
  // Thread-safe: ends the Wait under way, or the next.
  virtual void Wake() = 0;
};

// The secret by which a worker proves that it is the child that reeld has started: 256 random bits
// in hex.
std::string MakeToken();
// In a time that does not depend on where they differ. An empty one equals nothing.
bool TokensEqual(std::string_view a, std::string_view b);

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
