// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/unsent_requests.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLastPatience = absl::Milliseconds(100);
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

std::chrono::steady_clock::duration ToSteady(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24)));
}

absl::Status NotReceived(absl::string_view why) {
  ErrorDetails details;
  details.retry_after = kRetryAfter;
  return MakeError(Reason::kRequestNotReceived,
                   absl::StrCat("The call's request did not arrive: ", why), details);
}

}  // namespace

UnsentRequests::UnsentRequests(UnsentLimits limits) : limits_(limits), thread_([this] { Run(); }) {}

UnsentRequests::~UnsentRequests() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

int64_t UnsentRequests::Enter(UnsentRequest& call) {
  UnsentRequest* oldest = nullptr;
  int64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    if (waits_.size() >= limits_.calls && !waits_.empty()) {
      oldest = waits_.begin()->second.call;
      waits_.erase(waits_.begin());
    }
    ticket = next_ticket_++;
    const absl::Duration patience =
        closing_ ? std::min(kLastPatience, limits_.patience) : limits_.patience;
    waits_[ticket] = {&call, Clock::now() + ToSteady(patience)};
    if (waits_.size() == 1) changed_.NotifyAll();
  }
  if (oldest != nullptr) oldest->Abandon(NotReceived("too many calls wait for theirs"));
  return ticket;
}

bool UnsentRequests::Leave(int64_t ticket) {
  MutexLock lock(mutex_);
  return waits_.erase(ticket) == 1;
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

void UnsentRequests::Run() {
  for (;;) {
    UnsentRequest* late = nullptr;
    {
      MutexLock lock(mutex_);
      while (late == nullptr) {
        if (stopping_) return;
        if (waits_.empty()) {
          changed_.Wait(mutex_);
          continue;
        }
        // All have the same patience, so that the oldest is the first to lose it.
        const auto left = waits_.begin()->second.end - Clock::now();
        if (left > Clock::duration::zero()) {
          changed_.WaitFor(mutex_, absl::FromChrono(left));
          continue;
        }
        late = waits_.begin()->second.call;
        waits_.erase(waits_.begin());
      }
    }
    late->Abandon(
        NotReceived(absl::StrCat("none within ", absl::FormatDuration(limits_.patience))));
  }
}

}  // namespace reel::front
