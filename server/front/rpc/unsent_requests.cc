// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/unsent_requests.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLastPatience = absl::Milliseconds(100);
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

std::chrono::steady_clock::duration ToSteady(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24)));
}

absl::Status NotReceived(absl::string_view why) {
  return MakeError(Reason::kRequestNotReceived,
                   absl::StrCat("The call's request did not arrive: ", why),
                   {.retry_after = kRetryAfter});
}

}  // namespace

void TrimHeap() { malloc_trim(0); }

UnsentRequests::UnsentRequests(UnsentLimits limits, std::function<void()> trim)
    : limits_(limits), trim_(std::move(trim)), thread_([this] { Run(); }) {}

UnsentRequests::~UnsentRequests() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

UnsentRequests::Waits::iterator UnsentRequests::Victim() {
  const auto heaviest = std::ranges::max_element(
      connections_, {}, [](const auto& entry) { return entry.second.size(); });
  // Where none has more than another, the oldest of all.
  return heaviest->second.size() == 1 ? waits_.begin() : waits_.find(*heaviest->second.begin());
}

UnsentRequest* UnsentRequests::Remove(Waits::iterator wait) {
  UnsentRequest* const call = wait->second.call;
  const auto connection = connections_.find(wait->second.connection);
  connection->second.erase(wait->first);
  if (connection->second.empty()) connections_.erase(connection);
  waits_.erase(wait);
  return call;
}

int64_t UnsentRequests::Enter(UnsentRequest& call, const std::string& connection) {
  UnsentRequest* victim = nullptr;
  int64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    if (waits_.size() >= limits_.calls && !waits_.empty()) {
      victim = Remove(Victim());
      TrimLater();
    }
    ticket = next_ticket_++;
    const absl::Duration patience =
        closing_ ? std::min(kLastPatience, limits_.patience) : limits_.patience;
    waits_[ticket] = {&call, Clock::now() + ToSteady(patience), connection};
    connections_[connection].insert(ticket);
    if (waits_.size() == 1) changed_.NotifyAll();
  }
  if (victim != nullptr) victim->Abandon(NotReceived("too many calls wait for theirs"));
  return ticket;
}

bool UnsentRequests::Leave(int64_t ticket) {
  MutexLock lock(mutex_);
  const auto wait = waits_.find(ticket);
  if (wait == waits_.end()) return false;
  Remove(wait);
  return true;
}

void UnsentRequests::Close() {
  MutexLock lock(mutex_);
  closing_ = true;
  const auto end = Clock::now() + ToSteady(std::min(kLastPatience, limits_.patience));
  for (auto& [ticket, wait] : waits_) wait.end = std::min(wait.end, end);
  changed_.NotifyAll();
}

size_t UnsentRequests::count() const {
  MutexLock lock(mutex_);
  return waits_.size();
}

void UnsentRequests::TrimLater() {
  ++ended_;
  const Clock::time_point soon = Clock::now() + ToSteady(limits_.trim_delay);
  if (trim_at_ && *trim_at_ <= soon) return;
  trim_at_ = soon;
  changed_.NotifyAll();
}

void UnsentRequests::NoteTrim(Clock::time_point now) {
  trim_at_.reset();
  const int64_t ended = std::exchange(ended_, 0);
  if (ended == 0) return;
  Log(LogLevel::kWarning, "Calls were ended whose request did not come",
      {{"calls", ended}, {"waiting", static_cast<int64_t>(waits_.size())}});
  // The last of them take a while until they are gone.
  trim_at_ = now + ToSteady(8 * limits_.trim_delay);
}

bool UnsentRequests::Next(UnsentRequest*& late, bool& trim) {
  late = nullptr;
  trim = false;
  MutexLock lock(mutex_);
  while (!stopping_) {
    const Clock::time_point now = Clock::now();
    trim = trim_at_ && *trim_at_ <= now;
    if (trim) NoteTrim(now);
    // All have the same patience, so that the oldest is the first to lose it.
    if (!waits_.empty() && waits_.begin()->second.end <= now) {
      late = Remove(waits_.begin());
      TrimLater();
    }
    if (trim || late != nullptr) return true;
    if (waits_.empty() && !trim_at_) {
      changed_.Wait(mutex_);
      continue;
    }
    Clock::time_point next = trim_at_.value_or(Clock::time_point::max());
    if (!waits_.empty()) next = std::min(next, waits_.begin()->second.end);
    changed_.WaitFor(mutex_, absl::FromChrono(next - now));
  }
  return false;
}

void UnsentRequests::Run() {
  UnsentRequest* late = nullptr;
  for (bool trim = false; Next(late, trim);) {
    if (late != nullptr) {
      late->Abandon(
          NotReceived(absl::StrCat("none within ", absl::FormatDuration(limits_.patience))));
    }
    if (trim) trim_();
  }
}

}  // namespace reel::front
