// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/dispatcher_state.h"

#include <algorithm>

namespace reel::front {

void Removals::Watch(const std::string& id, const std::shared_ptr<LoggedJob>& job) {
  if (handles_.size() >= drop_at_) DropUnheld();
  handles_.emplace(id, job);
}

bool Removals::Begin(const std::string& id) {
  if (!removing_.insert(id).second) return false;
  const auto [first, last] = handles_.equal_range(id);
  for (auto handle = first; handle != last; ++handle) {
    if (const auto job = handle->second.lock()) job->MarkRemoved(replica_.NotFound(id));
  }
  handles_.erase(first, last);
  return true;
}

absl::Status Removals::CheckStays(const std::string& id) const {
  return removing_.contains(id) ? replica_.NotFound(id) : absl::OkStatus();
}

void Removals::DropUnheld() {
  std::erase_if(handles_, [](const auto& entry) { return entry.second.expired(); });
  drop_at_ = std::max<size_t>(1024, 2 * handles_.size());
}

}  // namespace reel::front
