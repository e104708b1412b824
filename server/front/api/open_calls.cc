// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/open_calls.h"

#include "absl/time/clock.h"
#include "server/front/api/request_convert.h"

namespace reel::front {

void OpenCalls::Enter() {
  MutexLock lock(mutex_);
  ++count_;
}

void OpenCalls::Leave() {
  MutexLock lock(mutex_);
  if (--count_ == 0) changed_.NotifyAll();
}

int OpenCalls::count() const {
  MutexLock lock(mutex_);
  return count_;
}

bool OpenCalls::WaitForNone(absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  MutexLock lock(mutex_);
  while (count_ > 0) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

namespace {

absl::Time LessMargin(absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return deadline;
  return deadline - VerdictMargin(deadline - absl::Now());
}

}  // namespace

BoundCall::BoundCall(JobService& jobs, absl::Time deadline)
    : jobs_(jobs), deadline_(LessMargin(deadline)) {}

void BoundCall::Joined(const std::string& id) {
  {
    MutexLock lock(mutex_);
    id_ = id;
  }
  LeaveWhenBothAreKnown();
}

void BoundCall::Ended(StreamEnd end) {
  {
    MutexLock lock(mutex_);
    if (end == StreamEnd::kSlowReader) {
      reason_ = LeaveReason::kSlowReader;
    } else {
      reason_ = absl::Now() >= deadline_ ? LeaveReason::kDeadline : LeaveReason::kCallerLeft;
    }
  }
  LeaveWhenBothAreKnown();
}

void BoundCall::LeaveWhenBothAreKnown() {
  std::string id;
  LeaveReason reason{};
  {
    MutexLock lock(mutex_);
    if (id_.empty() || !reason_) return;
    id.swap(id_);  // once
    reason = *reason_;
  }
  jobs_.Leave(id, reason);
}

}  // namespace reel::front
