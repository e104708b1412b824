// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/drain.h"

#include <algorithm>
#include <utility>

namespace reel::front {

Drain::Drain(DrainState& state, JobTable& jobs, TimerQueue& timers, const Clock& clock)
    : state_(state), jobs_(jobs), timers_(timers), clock_(clock) {}

void Drain::Start(absl::Duration propagation, absl::Duration limit,
                  absl::AnyInvocable<void()> done) {
  waiting_.push_back(std::move(done));
  if (state_.begun.exchange(true)) {
    CloseAdmission();
    return Cut();
  }
  timers_.Set({TimerKind::kCutDrain, {}}, clock_.Monotonic() + propagation + limit);
  if (propagation > absl::ZeroDuration()) {
    timers_.Set({TimerKind::kCloseAdmission, {}}, clock_.Monotonic() + propagation);
  } else {
    CloseAdmission();
  }
}

void Drain::CloseAdmission() {
  state_.closed = true;
  timers_.Clear({TimerKind::kCloseAdmission, {}});
  jobs_.MarkChanged();
}

void Drain::Cut() {
  state_.limit_met = true;
  timers_.Clear({TimerKind::kCutDrain, {}});
  jobs_.MarkChanged();
}

bool Drain::reached() const {
  return state_.closed && !waiting_.empty() &&
         std::all_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& entry) { return state_.Leaves(entry.second); });
}

void Drain::Answer() {
  timers_.Clear({TimerKind::kCutDrain, {}});
  for (auto& done : std::exchange(waiting_, {})) done();
}

}  // namespace reel::front
