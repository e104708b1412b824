// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/store_state.h"

#include "absl/strings/str_cat.h"
#include "server/logging/log.h"

namespace reel::front {

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsPermissionDenied(status) ||
         absl::IsFailedPrecondition(status) || absl::IsResourceExhausted(status);
}

void StoreState::Note(const absl::Status& status) {
  if (absl::IsCancelled(status)) return;
  const absl::Status now = MayPass(status) ? status : absl::OkStatus();
  bool was_good = false;
  bool news = false;
  {
    const MutexLock lock(mutex_);
    was_good = last_.ok();
    news = last_.code() != now.code();
    last_ = now;
  }
  if (!news) return;
  if (now.ok()) {
    if (!was_good) Log(LogLevel::kInfo, "the fleet's object store works again");
    return;
  }
  Log(LogLevel::kError, "The fleet's object store cannot be used; results wait for it",
      {{"error", now}});
}

bool StoreState::good() const {
  const MutexLock lock(mutex_);
  return last_.ok();
}

void StoreState::SetWaiting(int results, bool full) {
  const MutexLock lock(mutex_);
  waiting_ = results;
  full_ = full;
}

bool StoreState::full() const {
  const MutexLock lock(mutex_);
  return full_;
}

std::string StoreState::Problem() const {
  const MutexLock lock(mutex_);
  if (last_.ok() && !full_) return "";
  std::string line = absl::StrCat("fleet: ", last_.message(), last_.ok() ? "" : "; ",
                                  "results that wait for the object store: ", waiting_);
  if (full_) absl::StrAppend(&line, ", as many as may: nothing more is rendered here");
  return line + "\n";
}

}  // namespace reel::front
