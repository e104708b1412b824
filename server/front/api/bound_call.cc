// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/bound_call.h"

#include "absl/time/clock.h"
#include "server/front/api/request_convert.h"

namespace reel::front {
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
