// SPDX-License-Identifier: Apache-2.0
// Takes up what an earlier process left: what it has learned, and files of videos that have ended.
// Of a video that lived its row goes, since its log says whose it is; files that belong to no video
// are moved away.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/front/jobs/dispatcher_state.h"

namespace reel::front {

// Before anything else runs.
class RestartOfFront {
 public:
  RestartOfFront(DispatcherState& state, const DispatcherPorts& ports)
      : state_(state), ports_(ports) {}

  // Blocks.
  absl::Status Recover();
  // After it: videos of which no worker had begun any when the process ended.
  std::set<std::string> TakeNeverBegun() { return std::move(never_begun_); }

 private:
  absl::Status TakeReplica();
  absl::Status KeepFiles();
  absl::Status LearnAgain();
  void Forget(const JobRow& row);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  std::set<std::string> never_begun_;
};

}  // namespace reel::front
