// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_tail.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "server/front/fleet/nats_handles.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(100);
constexpr int64_t kWaitMs = 100;  // bounds how late the end is noticed
// Without a message for so long the consumer is recreated.
constexpr absl::Duration kStalled = absl::Seconds(3);
// Interval of looks for messages without a copy.
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(500);
// A new leader may not have applied all committed messages yet.
constexpr int kLooksBeforeRebuild = 20;
// Limits of a batch.
constexpr size_t kMostTold = 1024, kMostBytesTold = 1 << 20;

// The stored subject of a copy that the broker sent; empty if it is not a copy. Messages from a
// consumer always have the subject under which they were stored.
std::string CopiedSubject(const LogNames& names, const natsMsg& message) {
  const std::string_view subject = natsMsg_GetSubject(&message);
  const std::string prefix = names.Live() + ".";
  if (subject.substr(0, prefix.size()) != prefix) return "";
  return names.Within(subject.substr(prefix.size()));
}

}  // namespace

LogTail::LogTail(const LogConnection& connection, TailStart start, LogReader& reader)
    : connection_(connection),
      reader_(reader),
      position_(start.position),
      created_(start.created),
      thread_([this] { Run(); }) {}

LogTail::~LogTail() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

bool LogTail::stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

void LogTail::Pause(absl::Duration pause) {
  const MutexLock lock(mutex_);
  if (!stopping_) changed_.WaitFor(mutex_, pause);
}

void LogTail::Run() {
  while (!stopping()) {
    if (Listen() && CatchUp()) {
      Follow();
    } else {
      Pause(kPause);
    }
  }
  connection_.Retire(std::move(live_));
}

// Subscribes to copies first, so that little is missed between the stream's end and the first copy.
bool LogTail::Listen() {
  if (!connection_.IsUp()) return false;
  if (live_ != nullptr && natsSubscription_IsValid(live_.get())) return true;
  connection_.Retire(std::move(live_));
  natsSubscription* made = nullptr;
  const std::string subjects = connection_.names().Live() + ".>";
  if (natsConnection_SubscribeSync(&made, connection_.connection(), subjects.c_str()) != NATS_OK) {
    return false;
  }
  // A full queue drops copies, which is a gap like any other and keeps memory bounded.
  live_.reset(made);
  return natsConnection_FlushTimeout(connection_.connection(),
                                     absl::ToInt64Milliseconds(connection_.options().answer)) ==
         NATS_OK;
}

bool LogTail::CatchUp() {
  const absl::StatusOr<StreamFacts> facts = connection_.Look();
  answers_ = facts.ok();
  if (facts.ok()) newest_ = facts->last;
  if (!facts.ok() || !CheckPosition(*facts)) return false;
  if (facts->first > facts->last) position_ = std::max(position_, facts->last);  // it is empty
  if (position_ < facts->last) {
    if (followed_) ++holes_;
    if (!ReadUpTo(facts->last)) return false;
  }
  followed_ = true;
  return reader_.OnCaughtUp(*facts) || ReadAnew();
}

bool LogTail::CheckPosition(const StreamFacts& facts) {
  const bool is_other = created_ != 0 && created_ != facts.created;
  const bool has_lost = position_ != 0 && facts.first > position_ + 1;
  const bool is_behind = facts.last < position_;
  if (is_behind && !is_other && ++looks_behind_ < kLooksBeforeRebuild) return false;
  looks_behind_ = 0;
  if (is_other || has_lost || is_behind) Rebuild(facts);
  created_ = facts.created;
  reader_.OnStream(created_);
  return true;
}

void LogTail::Rebuild(const StreamFacts& facts) {
  Log(LogLevel::kWarning,
      "the fleet's log is another one, or has lost its beginning: all is read anew",
      {{"position", position_}, {"first", facts.first}, {"last", facts.last}});
  ++rebuilds_;
  position_ = 0;
  reader_.OnRebuild();
}

bool LogTail::ReadUpTo(uint64_t last) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  const LogNames& names = connection_.names();
  options.Stream = names.stream().c_str();
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = position_ + 1;
  natsSubscription* made = nullptr;
  jsErrCode code{};
  const natsStatus status = js_SubscribeSync(&made, connection_.jet_stream(), names.Jobs().c_str(),
                                             nullptr, &options, &code);
  NatsSubscriptionPtr subscription(made);
  if (status != NATS_OK) return false;
  // An ordered consumer restarts where it lost a message; limits would make it lose some.
  natsSubscription_SetPendingLimits(made, -1, -1);
  const bool read = Drain(*made, last);
  const bool done = Tell() && read;
  connection_.Retire(std::move(subscription));
  return done;
}

bool LogTail::Drain(natsSubscription& subscription, uint64_t last) {
  absl::Time heard = absl::Now();
  while (position_ < last) {
    if (stopping() || absl::Now() - heard > kStalled) return false;
    natsMsg* next = nullptr;
    const natsStatus got = natsSubscription_NextMsg(&next, &subscription, kWaitMs);
    const NatsMessagePtr message(next);
    if (got == NATS_TIMEOUT || got == NATS_MISSED_HEARTBEAT) continue;
    if (got != NATS_OK) return false;
    heard = absl::Now();
    jsMsgMetaData* data = nullptr;
    if (natsMsg_GetMetaData(&data, next) != NATS_OK) continue;
    const uint64_t sequence = data->Sequence.Stream;
    jsMsgMetaData_Destroy(data);
    if (sequence <= position_) continue;
    if (!Add(*message, sequence, connection_.names().Within(natsMsg_GetSubject(next)))) {
      return false;
    }
  }
  return true;
}

void LogTail::Follow() {
  FollowToHole();
  Tell();
}

void LogTail::FollowToHole() {
  const absl::Time begun = absl::Now();
  absl::Time heard = begun;
  while (!stopping()) {
    natsMsg* next = nullptr;
    const natsStatus got =
        natsSubscription_NextMsg(&next, live_.get(), next_.empty() ? kWaitMs : 0);
    const NatsMessagePtr message(next);
    const absl::Time now = absl::Now();
    if (got == NATS_TIMEOUT && !Tell()) return;
    if (got == NATS_OK) {
      uint64_t sequence = 0;
      const std::string subject = CopiedSubject(connection_.names(), *message);
      if (subject.empty()) continue;
      if (!absl::SimpleAtoi(LastHeaderOf(*message, kSequenceHeader), &sequence)) continue;
      if (sequence > position_ + 1) return;  // a gap
      if (sequence == position_ + 1) {
        if (!Add(*message, sequence, subject)) return;
        heard = now;
      } else if (now - begun > kBetweenLooks) {
        return;  // a duplicate, or from a recreated stream
      }
    } else if (got != NATS_TIMEOUT && got != NATS_SLOW_CONSUMER) {
      connection_.Retire(std::move(live_));
      return;
    }
    // Messages stored while the connection was down have no copy.
    if (now - heard > connection_.options().silence || !connection_.IsUp()) return;
  }
}

bool LogTail::Add(natsMsg& message, uint64_t sequence, std::string subject) {
  StoredMessage& stored = next_.emplace_back();
  stored.sequence = sequence;
  stored.subject = std::move(subject);
  stored.message_id = HeaderOf(message, kMessageIdHeader);
  stored.payload.assign(natsMsg_GetData(&message),
                        static_cast<size_t>(natsMsg_GetDataLength(&message)));
  position_ = sequence;
  next_bytes_ += stored.payload.size();
  return (next_.size() < kMostTold && next_bytes_ < kMostBytesTold) || Tell();
}

bool LogTail::Tell() {
  if (next_.empty()) return true;
  const bool kept = reader_.OnMessages(next_);
  next_.clear();
  next_bytes_ = 0;
  return kept || ReadAnew();
}

bool LogTail::ReadAnew() {
  ++rebuilds_;
  position_ = 0;
  reader_.OnRebuild();
  return false;
}

}  // namespace reel::front
