// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/fleet/simulated_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/subjects.h"

namespace reel::bench {
namespace {

using front::FleetPhase;
using front::KnownVideo;
using front::LogKind;
using Outcome = front::WriteResult::Outcome;

// As in a server's default configuration, beats.cc and claimer.cc.
constexpr absl::Duration kBeat = absl::Seconds(1);
constexpr absl::Duration kLeastBetweenBeats = absl::Milliseconds(100);
constexpr absl::Duration kSilence = absl::Seconds(5);
constexpr absl::Duration kTurn = absl::Milliseconds(50);
constexpr absl::Duration kLongestWait = absl::Milliseconds(100);
constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr int kEveryLag = 16;  // of messages so many are looked at once

float Ms(absl::Duration duration) {
  return static_cast<float>(absl::ToDoubleMilliseconds(duration));
}

}  // namespace

void NodeFigures::Add(const NodeFigures& other) {
  tried += other.tried;
  won += other.won;
  lost += other.lost;
  unknown += other.unknown;
  ended += other.ended;
  voids += other.voids;
  holes += other.holes;
  beats += other.beats;
  looks += other.looks;
  look_ms.insert(look_ms.end(), other.look_ms.begin(), other.look_ms.end());
  claim_ms.insert(claim_ms.end(), other.claim_ms.begin(), other.claim_ms.end());
  lag_ms.insert(lag_ms.end(), other.lag_ms.begin(), other.lag_ms.end());
}

std::string IdNow(const std::string& writer, int64_t number) {
  return absl::StrCat(writer, ".", number, ".", absl::GetCurrentTimeNanos());
}

std::optional<absl::Time> TimeOfId(const std::string& message_id) {
  int64_t nanos = 0;
  const size_t dot = message_id.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  if (!absl::SimpleAtoi(message_id.substr(dot + 1), &nanos)) return std::nullopt;
  return absl::FromUnixNanos(nanos);
}

bool TimedReader::OnMessages(const std::vector<front::StoredMessage>& messages) {
  for (const front::StoredMessage& message : messages) {
    if (!measuring_ || ++seen_ % kEveryLag != 0) continue;
    if (const std::optional<absl::Time> written = TimeOfId(message.message_id)) {
      const MutexLock lock(mutex_);
      lag_ms_.push_back(Ms(absl::Now() - *written));
    }
  }
  return next_.OnMessages(messages);
}

std::vector<float> TimedReader::Take() {
  const MutexLock lock(mutex_);
  return std::exchange(lag_ms_, {});
}

SimulatedNode::SimulatedNode(Settings settings, const front::LoggedVideos& logged)
    : settings_(std::move(settings)),
      changes_([this] {
        const MutexLock lock(mutex_);
        news_ = true;
        changed_.NotifyAll();
      }),
      view_({}, &changes_),
      reader_(view_),
      index_(logged),
      nodes_(settings_.name, kSilence, absl::Seconds(1)),
      rivals_(settings_.name) {}

SimulatedNode::~SimulatedNode() { Stop(); }

absl::Status SimulatedNode::Start() {
  REEL_ASSIGN_OR_RETURN(port_, front::NatsPort::Open(settings_.log, reader_));
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void SimulatedNode::Measure() {
  measuring_ = true;
  reader_.Measure();
}

NodeFigures SimulatedNode::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  if (port_ == nullptr) return {};
  port_.reset();  // its tail tells nobody any more
  for (const auto& [verdict, count] : view_.voids()) figures_.voids += count;
  figures_.lag_ms = reader_.Take();
  return std::exchange(figures_, {});
}

void SimulatedNode::Run() {
  if (!view_.WaitUntilReady(absl::Minutes(5))) return;
  while (!stopping_) {
    WaitForNews();
    Absorb();
    const absl::Time now = absl::Now();
    Beat(now);
    Work(now);
  }
}

void SimulatedNode::WaitForNews() {
  const absl::Duration left =
      std::min(kLongestWait, std::max(absl::ZeroDuration(), until_ - absl::Now()));
  const MutexLock lock(mutex_);
  if (!news_ && left > absl::ZeroDuration()) changed_.WaitFor(mutex_, left);
  news_ = false;
}

void SimulatedNode::Absorb() {
  const front::ViewChanges::Taken taken = changes_.Take();
  if (taken.anew) index_.Clear();
  for (const auto& [key, change] : taken.videos) {
    const auto job = view_.Find(key.first, key.second);
    if (!job) continue;
    index_.Update(key, *job);
    if (job->phase != FleetPhase::kQueued) {
      noticed_.erase(key);
      claiming_.erase(key);
    }
  }
}

void SimulatedNode::Beat(absl::Time now) {
  for (const std::string& bytes : port_->TakeBeats()) {
    ++figures_.beats;
    if (auto beat = front::ReadBeat(bytes)) nodes_.Hear(*std::move(beat));
  }
  nodes_.Tick(now - absl::UnixEpoch(), port_->IsUp());
  room_.clear();
  for (const auto& [name, beat] : nodes_.Alive()) {
    if (name != settings_.name) room_[name] = beat->room;
  }
  rivals_.Update(room_);
  const bool news = idle() != told_room_;
  if (now - beaten_ < (news ? kLeastBetweenBeats : kBeat)) return;
  beaten_ = now;
  told_room_ = idle();
  front::NodeBeat beat;
  beat.node = settings_.name;
  beat.room = idle();
  beat.position = view_.position();
  beat.models.push_back({"card", 1, ""});
  port_->SendBeat(beat.node, WriteBeat(beat));
}

void SimulatedNode::Work(absl::Time now) {
  if (running_ && now >= until_) Finish();
  if (!running_ && next_) {
    running_ = std::exchange(next_, std::nullopt);
    room_since_ = absl::Now();
    until_ = absl::Now() + settings_.video;
  }
  if (!next_ && index_.queued() > 0) Look(now);
}

void SimulatedNode::Look(absl::Time now) {
  ++figures_.looks;
  const std::vector<Key> candidates = Candidates();
  const auto ours = std::find_if(candidates.begin(), candidates.end(), [&](const Key& key) {
    return !claiming_.contains(key) && IsOurs(key, now);
  });
  if (measuring_) figures_.look_ms.push_back(Ms(absl::Now() - now));
  if (ours != candidates.end()) Claim(*ours);
}

std::vector<SimulatedNode::Key> SimulatedNode::Candidates() const {
  std::vector<Key> head =
      index_.Head(front::WindowOf(room_.size() + 1), {}, [](const KnownVideo&) { return true; });
  if (idle() > 0) return head;
  // What idle ones elsewhere will take is theirs.
  const size_t theirs = std::min(head.size(), static_cast<size_t>(rivals_.room()));
  head.erase(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(theirs));
  return head;
}

bool SimulatedNode::IsOurs(const Key& key, absl::Time now) {
  Noticed& noticed = noticed_.try_emplace(key, Noticed{now, {}}).first->second;
  const int better = rivals_.CountBetter(key.second, idle() > 0, noticed.better);
  return now - std::max(noticed.at, room_since_) >= better * kTurn;
}

void SimulatedNode::Claim(const Key& key) {
  const absl::Time began = absl::Now();
  claiming_.insert(key);
  const uint32_t epoch = index_.FindLive(key)->epoch + 1;
  const auto subject = front::MakeSubject({key.first, key.second, LogKind::kClaim, epoch});
  const auto written = port_->Write(
      {*subject, front::WriteClaim({settings_.name, ""}), IdNow(settings_.name, ++written_)},
      kPatience);
  if (measuring_) ++figures_.tried;
  if (!written.ok() || written->outcome == Outcome::kUnknown) {
    figures_.unknown += measuring_ ? 1 : 0;
    claiming_.erase(key);
    return;
  }
  if (written->outcome == Outcome::kLost) {
    figures_.lost += measuring_ ? 1 : 0;
    return;  // its fold will say whose it is
  }
  if (!view_.WaitFor(written->sequence, kPatience)) return;
  Absorb();
  const KnownVideo* const video = index_.FindLive(key);
  if (video == nullptr || video->owner != settings_.name || video->epoch != epoch) return;
  if (measuring_) {
    ++figures_.won;
    figures_.claim_ms.push_back(Ms(absl::Now() - began));
  }
  (running_ ? next_ : running_) = Held{key, epoch};
  if (!next_) until_ = absl::Now() + settings_.video;
}

void SimulatedNode::Finish() {
  const auto subject = front::MakeSubject(
      {running_->key.first, running_->key.second, LogKind::kFinish, running_->epoch});
  front::FinishSaid said;
  said.node = settings_.name;
  said.kind = front::FinishKind::kSucceeded;
  const auto written = port_->Write(
      {*subject, front::WriteFinish(said, ""), IdNow(settings_.name, ++written_)}, kPatience);
  if (!written.ok() || written->outcome == Outcome::kUnknown) return;  // again, with the next look
  figures_.ended += measuring_ ? 1 : 0;
  running_.reset();
  until_ = absl::InfiniteFuture();
}

}  // namespace reel::bench
