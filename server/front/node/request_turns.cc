// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/request_turns.h"

#include <optional>
#include <utility>

namespace reel::front {

bool RequestTurns::Enter(const Key& key, Turn later) {
  const MutexLock lock(mutex_);
  const auto [found, is_first] = waiting_.try_emplace(key);
  if (!is_first) found->second.push_back(std::move(later));
  return is_first;
}

void RequestTurns::Leave(const Key& key) {
  Turn next;
  {
    const MutexLock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    if (found->second.empty()) {
      waiting_.erase(found);
      return;
    }
    next = std::move(found->second.front());
    found->second.pop_front();
  }
  next();
}

namespace {

bool HasNoResult(FleetPhase phase) { return HasEnded(phase) && phase != FleetPhase::kSucceeded; }

}  // namespace

Fates FatesOf(FleetView& view, const std::vector<FleetView::Key>& keys, absl::Time now) {
  Fates fates;
  int ending = 0;
  for (const FleetView::Key& key : keys) {
    const std::optional<ViewVideo> known = view.FindVideo(key);
    // The video may have become a trace since.
    const std::optional<FleetTrace> trace =
        known ? std::nullopt : view.FindTrace(key.first, key.second);
    if (!known && !trace) {
      ++fates.unknown;
      continue;
    }
    if (HasNoResult(known ? known->job.phase : trace->phase)) ++fates.without_result;
    if (known && known->live() && known->job.wish) ++ending;
    if (!known || known->gone(now)) continue;
    fates.locked |= known->facts.locked;
    fates.shown.push_back(key);
  }
  fates.end_soon = ending > 0 && fates.without_result + ending == static_cast<int>(keys.size());
  return fates;
}

}  // namespace reel::front
