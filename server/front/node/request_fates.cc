// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/request_fates.h"

#include <optional>

namespace reel::front {
namespace {

bool HasNoResult(FleetPhase phase) { return HasEnded(phase) && phase != FleetPhase::kSucceeded; }

}  // namespace

Fates FatesOf(FleetView& view, const std::vector<FleetView::Key>& keys, absl::Time now) {
  Fates fates;
  for (const FleetView::Key& key : keys) {
    const std::optional<ViewVideo> known = view.FindVideo(key);
    // It may have become a trace since.
    const std::optional<FleetTrace> trace =
        known ? std::nullopt : view.FindTrace(key.first, key.second);
    if (!known && !trace) {
      ++fates.unknown;
      continue;
    }
    if (HasNoResult(known ? known->job.phase : trace->phase)) ++fates.without_result;
    if (!known || known->gone(now)) continue;
    fates.locked |= known->facts.locked;
    fates.shown.push_back(key);
  }
  return fates;
}

}  // namespace reel::front
