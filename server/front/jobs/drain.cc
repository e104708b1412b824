// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/drain.h"

#include <algorithm>
#include <utility>

namespace reel::front {

void Drain::Start(absl::Duration propagation, absl::Duration limit,
                  absl::AnyInvocable<void()> done) {
  waiting_.push_back(std::move(done));
  if (state_.drain.begun.exchange(true)) {
    CloseAdmission();
    return Cut();
  }
  state_.timers.Set({TimerKind::kCutDrain, {}}, clock_.Monotonic() + propagation + limit);
  if (propagation > absl::ZeroDuration()) {
    state_.timers.Set({TimerKind::kCloseAdmission, {}}, clock_.Monotonic() + propagation);
  } else {
    CloseAdmission();
  }
}

void Drain::CloseAdmission() {
  state_.drain.closed = true;
  state_.timers.Clear({TimerKind::kCloseAdmission, {}});
  state_.jobs.MarkChanged();
}

void Drain::Cut() {
  state_.drain.limit_met = true;
  state_.timers.Clear({TimerKind::kCutDrain, {}});
  state_.jobs.MarkChanged();
}

bool Drain::reached() const {
  return state_.drain.closed && !waiting_.empty() &&
         std::all_of(state_.jobs.begin(), state_.jobs.end(),
                     [&](const auto& entry) { return state_.drain.Leaves(entry.second); });
}

void Drain::Answer() {
  state_.timers.Clear({TimerKind::kCutDrain, {}});
  for (auto& done : std::exchange(waiting_, {})) done();
}

}  // namespace reel::front
