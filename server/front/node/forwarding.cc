// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/forwarding.h"

#include <algorithm>
#include <utility>

#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kFirstWait = absl::Milliseconds(100);
constexpr absl::Duration kLongestWaitForOwner = absl::Seconds(2);
// Of an owner that has but to send. One that renders is waited for until it is replaced.
constexpr absl::Duration kPatience = absl::Seconds(10);

}  // namespace

Forwarding::Forwarding(Peers peers, std::string tenant, std::string id,
                       std::weak_ptr<JobListener> woken)
    : peers_(std::move(peers)),
      tenant_(std::move(tenant)),
      id_(std::move(id)),
      woken_(std::move(woken)),
      wait_(kFirstWait) {}

void Forwarding::Follow(std::optional<PeerTarget> target) {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  const bool same = target && target_ && target->IsSameClaim(*target_);
  const bool had_owner = target_.has_value();
  // It may have rendered in silence for long.
  if (same && target->finished && !target_->finished) heard_at_.reset();
  target_ = std::move(target);
  if (same) return;
  Forget();
  // Places in the file of the owner before say nothing of this one's.
  if (had_owner && wanted_) wanted_ = 0;
  if (target_ && wanted_) Open();
}

void Forwarding::Forget() {
  stream_.reset();
  mirror_.reset();
  given_up_ = told_ = false;
  heard_ = opened_with_ = 0;
  heard_at_.reset();
  retry_at_.reset();
  wait_ = kFirstWait;
}

void Forwarding::WantLog() {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  if (wanted_) return;
  wanted_ = 0;
  if (target_) Open();
}

void Forwarding::Want(int64_t offset) {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  offset = std::max<int64_t>(offset, 0);
  const bool is_new = !wanted_;
  wanted_ = std::min(offset, wanted_.value_or(offset));
  if (!target_ || given_up_) return;
  if (mirror_ != nullptr && offset < mirror_->base()) {
    Forget();
    return Open();
  }
  if (is_new) Open();
}

void Forwarding::Open() {
  if (mirror_ == nullptr) {
    mirror_ = std::make_shared<VideoMirror>(target_->attempt, *wanted_, peers_.spool, woken_);
  }
  PeerAsk ask{target_->address, tenant_, id_};
  mirror_->Resume(ask);
  opened_with_ = mirror_->heard();
  stream_ = peers_.port->Open(ask, mirror_);
}

bool Forwarding::GivesUp(absl::Duration now) const {
  if (!target_->finished || given_up_) return false;
  const auto ended = mirror_->ended();
  return now - *heard_at_ > kPatience || (ended && absl::IsDataLoss(*ended));
}

void Forwarding::TellLog(const char* what) const {
  Log(LogLevel::kWarning, what,
      {{"video", id_},
       {"node", target_->node},
       {"address", target_->address},
       {"error", mirror_->ended().value_or(absl::DeadlineExceededError("it says nothing"))}});
}

void Forwarding::Retry(absl::Duration now) {
  if (!retry_at_) {
    stream_.reset();
    // Whoever had something to say is asked again soon.
    if (mirror_->heard() > opened_with_) wait_ = kFirstWait;
    if (wait_ == kLongestWaitForOwner && !std::exchange(told_, true)) {
      TellLog("Another server does not send a video; it is asked again and again");
    }
    retry_at_ = now + wait_;
    wait_ = std::min(2 * wait_, kLongestWaitForOwner);
  }
  if (now < *retry_at_) return;
  retry_at_.reset();
  Open();
}

bool Forwarding::Tick(absl::Duration now) {
  const MutexLock lock(mutex_);
  if (mirror_ == nullptr || mirror_->complete()) return false;
  const int64_t heard = mirror_->heard();
  if (heard > heard_ || !heard_at_) {
    heard_ = heard;
    heard_at_ = now;
  }
  if (GivesUp(now)) {
    TellLog(
        "Another server does not send a finished video's file; its readers are told where it is");
    return given_up_ = true;
  }
  if (mirror_->ended()) Retry(now);
  return false;
}

std::shared_ptr<const VideoMirror> Forwarding::mirror() const {
  const MutexLock lock(mutex_);
  return mirror_;
}

bool Forwarding::complete() const {
  const MutexLock lock(mutex_);
  return mirror_ != nullptr && mirror_->complete();
}

bool Forwarding::given_up() const {
  const MutexLock lock(mutex_);
  return given_up_;
}

}  // namespace reel::front
