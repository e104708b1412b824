// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/fleet_view.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "server/logging/log.h"

namespace reel::front {

void FleetView::OnMessage(const StoredMessage& message) {
  const FoldEntry entry = ReadEntry(message);
  FoldVerdict verdict;
  {
    const MutexLock lock(mutex_);
    verdict = Fold(state_, entry);
    if (IsVoid(verdict)) ++voids_[verdict];
    changed_.NotifyAll();
  }
  if (listener_ != nullptr) listener_->OnFolded({entry.subject.tenant, entry.subject.id});
  {
    const MutexLock lock(mutex_);
    told_ = message.sequence;
  }
  if (!IsVoid(verdict)) return;
  Log(LogLevel::kDebug, "a message of the fleet's log is void",
      {{"why", NameOf(verdict)}, {"sequence", message.sequence}});
}

void FleetView::OnRebuild() {
  {
    const MutexLock lock(mutex_);
    state_ = {};
    voids_.clear();
    ready_ = false;
    told_ = 0;
  }
  if (listener_ != nullptr) listener_->OnAnew();
}

void FleetView::OnCaughtUp(const StreamFacts& facts) {
  {
    const MutexLock lock(mutex_);
    // It looks at all of it, and the log's beginning moves with its end.
    if (facts.first > first_) ForgetBefore(state_, facts.first);
    first_ = facts.first;
    ready_ = true;
    told_ = std::max(told_, facts.last);  // its newest messages may be gone
    changed_.NotifyAll();
  }
  if (listener_ != nullptr) listener_->OnCaughtUp();
}

bool FleetView::WaitFor(uint64_t sequence, absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  const MutexLock lock(mutex_);
  while (state_.position < sequence) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

bool FleetView::WaitUntilReady(absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  const MutexLock lock(mutex_);
  while (!ready_) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

bool FleetView::ready() {
  const MutexLock lock(mutex_);
  return ready_;
}

void FleetView::Forget(const std::vector<FleetState::Key>& keys) {
  const MutexLock lock(mutex_);
  for (const FleetState::Key& key : keys) front::Forget(state_, key);
}

std::optional<FleetTrace> FleetView::FindTrace(const std::string& tenant, const std::string& id) {
  const MutexLock lock(mutex_);
  const auto found = state_.over.find({tenant, id});
  if (found == state_.over.end()) return std::nullopt;
  return found->second;
}

std::optional<FleetJob> FleetView::Find(const std::string& tenant, const std::string& id) {
  const MutexLock lock(mutex_);
  const auto found = state_.jobs.find({tenant, id});
  if (found == state_.jobs.end()) return std::nullopt;
  return found->second;
}

std::optional<FleetBinding> FleetView::FindBinding(const std::string& tenant,
                                                   const std::string& request_id) {
  const MutexLock lock(mutex_);
  const auto found = state_.bindings.find({tenant, request_id});
  if (found == state_.bindings.end()) return std::nullopt;
  return found->second;
}

uint64_t FleetView::position() {
  const MutexLock lock(mutex_);
  return state_.position;
}

uint64_t FleetView::told() {
  const MutexLock lock(mutex_);
  return told_;
}

FleetState FleetView::state() {
  const MutexLock lock(mutex_);
  return state_;
}

std::map<FoldVerdict, int64_t> FleetView::voids() {
  const MutexLock lock(mutex_);
  return voids_;
}

}  // namespace reel::front
