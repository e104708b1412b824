// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/memory_log.h"

#include <utility>

#include "absl/strings/match.h"

namespace reel::testing {

using front::WriteResult;

namespace {

constexpr int64_t kCreated = 1;

}  // namespace

MemoryLog::Port::Port(MemoryLog& log, front::LogReader& reader)
    : log_(log), reader_(reader), read_(reader.Start().position) {
  const MutexLock lock(log_.mutex_);
  log_.ports_.insert(this);
  log_.TellAll();
}

MemoryLog::Port::~Port() {
  const MutexLock lock(log_.mutex_);
  log_.ports_.erase(this);
}

absl::StatusOr<WriteResult> MemoryLog::Port::Write(const front::LogWrite& write, absl::Duration) {
  const MutexLock lock(log_.mutex_);
  if (!up_) {
    if (write.repeated) return WriteResult{};
    return absl::UnavailableError("cut");
  }
  uint64_t sequence = 0;
  if (!log_.Store(write, sequence)) return WriteResult{WriteResult::Outcome::kLost, 0};
  if (!log_.forgotten_.empty() && absl::EndsWith(write.subject, log_.forgotten_) &&
      !write.repeated) {
    return WriteResult{};
  }
  return WriteResult{WriteResult::Outcome::kWon, sequence};
}

absl::StatusOr<uint64_t> MemoryLog::Port::Newest() {
  const MutexLock lock(log_.mutex_);
  ++log_.looks_;
  if (!up_) return absl::UnavailableError("cut");
  return log_.messages_.size();
}

absl::StatusOr<absl::Time> MemoryLog::Port::Time() {
  const front::Clock* const clock = log_.clock_;
  if (clock == nullptr) return absl::UnimplementedError("no clock");
  if (!up_ || log_.clock_hidden_) return absl::UnavailableError("cut");
  return clock->Wall();
}

void MemoryLog::Port::SendBeat(const std::string&, const std::string& beat) {
  const MutexLock lock(log_.mutex_);
  if (!up_) return;
  for (Port* port : log_.ports_) {
    if (port->up_ && !port->deaf_) port->beats_.push_back(beat);
  }
}

std::vector<std::string> MemoryLog::Port::TakeBeats() {
  const MutexLock lock(log_.mutex_);
  return std::exchange(beats_, {});
}

bool MemoryLog::Store(const front::LogWrite& write, uint64_t& sequence) {
  const auto found = by_subject_.find(write.subject);
  if (found != by_subject_.end()) {
    sequence = found->second + 1;
    const bool own = messages_[found->second].message_id == write.message_id;
    lost_ += own ? 0 : 1;
    return own;
  }
  sequence = messages_.size() + 1;
  by_subject_[write.subject] = messages_.size();
  messages_.push_back({sequence, write.subject, write.message_id, write.payload});
  TellAll();
  return true;
}

void MemoryLog::TellAll() {
  for (Port* port : ports_) {
    if (!port->up_ || port->held_) continue;
    port->reader_.OnStream(kCreated);
    while (port->read_ < messages_.size()) {
      const bool kept = port->reader_.OnMessages({messages_[port->read_]});
      if (!kept) port->reader_.OnRebuild();
      port->read_ = kept ? port->read_ + 1 : 0;
    }
    port->reader_.OnCaughtUp({kCreated, 1, messages_.size()});
  }
}

void MemoryLog::Cut(Port& port) {
  const MutexLock lock(mutex_);
  port.up_ = false;
}

void MemoryLog::Hold(Port& port) { port.held_ = true; }

void MemoryLog::Deafen(Port& port) { port.deaf_ = true; }

void MemoryLog::Mend(Port& port) {
  const MutexLock lock(mutex_);
  port.up_ = true;
  port.held_ = false;
  TellAll();
}

bool MemoryLog::Append(const std::string& subject, const std::string& payload) {
  const MutexLock lock(mutex_);
  uint64_t sequence = 0;
  return Store({subject, payload, "test." + subject}, sequence);
}

void MemoryLog::ForgetAnswersOf(const std::string& ending) {
  const MutexLock lock(mutex_);
  forgotten_ = ending;
}

std::vector<std::string> MemoryLog::subjects() {
  const MutexLock lock(mutex_);
  std::vector<std::string> out;
  for (const auto& message : messages_) out.push_back(message.subject);
  return out;
}

int MemoryLog::Count(const std::string& part) {
  int count = 0;
  for (const std::string& subject : subjects()) count += absl::StrContains(subject, part) ? 1 : 0;
  return count;
}

}  // namespace reel::testing
