// SPDX-License-Identifier: Apache-2.0
// Starting and ending workers: processes in reeld, scripts in tests.
#pragma once

#include <cstdint>
#include <string>
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

}  // namespace reel::front
