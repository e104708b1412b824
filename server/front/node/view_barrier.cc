// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/view_barrier.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/front/node/fleet_errors.h"

namespace reel::front {

ViewChanges::Taken ViewChanges::Take() {
  const MutexLock lock(mutex_);
  told_ = false;
  return std::exchange(taken_, {});
}

void ViewChanges::OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                           const std::vector<ViewBill>& bills) {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, change] : changes) {
      ViewChange& known = taken_.videos[key];
      known.live = change.live;
      known.deleted |= change.deleted;
    }
    taken_.bills.insert(taken_.bills.end(), bills.begin(), bills.end());
    first = Note();
  }
  if (first) wake_();
}

void ViewChanges::OnAnew() {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    taken_ = {true, {}, {}};
    first = Note();
  }
  if (first) wake_();
}

void ViewChanges::OnCaughtUp() {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    first = Note();
  }
  if (first) wake_();
}

void FoldWaiters::Settle(absl::Duration now) {
  // Callbacks may wait again.
  std::vector<Waiter> asked = std::exchange(waiting_, {});
  std::vector<Waiter> left;
  for (Waiter& waiter : asked) {
    const bool reached = waiter.reached();
    if (!reached && now < waiter.end) {
      left.push_back(std::move(waiter));
    } else {
      waiter.done(reached);
    }
  }
  for (Waiter& waiter : waiting_) left.push_back(std::move(waiter));
  waiting_ = std::move(left);
}

namespace {

constexpr absl::Duration kBarrierPatience = absl::Seconds(2);
// Minimum interval of queries to the broker.
constexpr absl::Duration kDistance = absl::Milliseconds(20);
constexpr size_t kMostCalls = 10'000;

}  // namespace

void ViewBarrier::Wait(Done done) {
  if (!port_.IsUp()) return done(FleetUnavailable("The fleet's log cannot be reached"));
  if (next_.size() >= kMostCalls) {
    return done(FleetUnavailable("Too many calls ask for videos that this server does not know"));
  }
  next_.push_back(std::move(done));
  if (!asking_) Ask();
}

void ViewBarrier::Ask() {
  asked_ = std::exchange(next_, {});
  auto told = thread_.Here<absl::StatusOr<uint64_t>>(
      [this](absl::StatusOr<uint64_t> newest) { OnNewest(std::move(newest)); });
  asking_ = looks_.Put([&port = port_, told = std::move(told)]() mutable {
    told(port.Newest());
    absl::SleepFor(kDistance);
  });
  if (!asking_) Answer(std::exchange(asked_, {}), FleetUnavailable("The fleet's log is busy"));
}

void ViewBarrier::OnNewest(absl::StatusOr<uint64_t> newest) {
  asking_ = false;
  std::vector<Done> calls = std::exchange(asked_, {});
  if (!next_.empty()) Ask();
  if (!newest.ok()) return Answer(std::move(calls), FleetUnavailable("The fleet's log is silent"));
  waiting_.push_back({std::move(calls), *newest, clock_.Monotonic() + kBarrierPatience});
}

void ViewBarrier::Settle(bool ready, uint64_t position) {
  if (waiting_.empty()) return;
  const absl::Duration now = clock_.Monotonic();
  // Callbacks may wait again.
  std::vector<Batch> batches = std::exchange(waiting_, {});
  for (Batch& batch : batches) {
    if (ready && position >= batch.newest) {
      Answer(std::move(batch.calls), absl::OkStatus());
    } else if (now >= batch.end) {
      Answer(std::move(batch.calls), FleetUnavailable("This server's view of the fleet is behind"));
    } else {
      waiting_.push_back(std::move(batch));
    }
  }
}

void ViewBarrier::Answer(std::vector<Done> calls, const absl::Status& status) {
  for (Done& done : calls) done(status);
}

}  // namespace reel::front
