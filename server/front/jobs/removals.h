// SPDX-License-Identifier: Apache-2.0
// Stored videos that are being removed, and the handles that callers hold of videos that may be: a
// missing file of a removed video is no damage.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/jobs/replica.h"

namespace reel::front {

// Confined to the dispatcher's thread. `replica` outlives it.
class Removals {
 public:
  explicit Removals(const Replica& replica) : replica_(replica) {}

  // A caller may read the file of this finished video from now on.
  void Watch(const std::string& id, const std::shared_ptr<LoggedJob>& job);
  // Before the file goes: handles that have not opened it yet answer NOT_FOUND. False: the video is
  // being removed already.
  bool Begin(const std::string& id);
  // The row is gone, or the removal failed.
  void End(const std::string& id) { removing_.erase(id); }
  // NOT_FOUND while the video is being removed.
  absl::Status CheckStays(const std::string& id) const;

 private:
  void DropUnheld();

  const Replica& replica_;
  std::set<std::string> removing_;
  std::multimap<std::string, std::weak_ptr<LoggedJob>> handles_;
  size_t drop_at_ = 1024;  // handles; twice as many as were held when unheld ones went last
};

}  // namespace reel::front
