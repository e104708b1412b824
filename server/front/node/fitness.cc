// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fitness.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Pause after a failure; doubled by each further one within kDiskCalm.
constexpr absl::Duration kShortestDiskPause = absl::Seconds(1);
constexpr absl::Duration kLongestDiskPause = absl::Minutes(1);
constexpr absl::Duration kDiskCalm = absl::Minutes(5);

}  // namespace

void DiskWatch::Tick() {
  if (!probe_ || probing_ || clock_.Monotonic() < not_before_) return;
  auto told = thread_.Here<absl::Status>([this](const absl::Status& status) { OnProbed(status); });
  probing_ = probes_.Put(
      [probe = probe_, writes = !good_, told = std::move(told)]() mutable { told(probe(writes)); });
}

void DiskWatch::OnProbed(const absl::Status& status) {
  probing_ = false;
  // A failure since then is newer than this probe.
  if (clock_.Monotonic() < not_before_) return;
  good_ = status.ok();
  fitness_.Set(Unfit::kDisk, std::string(status.message()));
}

void DiskWatch::Fail(const absl::Status& why) {
  const absl::Duration now = clock_.Monotonic();
  const bool again = now - failed_ < kDiskCalm;
  pause_ = again ? std::min(2 * pause_, kLongestDiskPause) : kShortestDiskPause;
  failed_ = now;
  not_before_ = now + pause_;
  good_ = false;
  fitness_.Set(Unfit::kDisk, std::string(why.message()));
}

void DiskWatch::Judge(const absl::Status& error, absl::AnyInvocable<void(bool of_disk)> done) {
  const std::optional<Reason> reason = ReasonOf(error);
  if (reason == Reason::kStoreFull) {
    Fail(absl::ResourceExhaustedError(
        "the disk of the data folder is full, or the results have reached data.max_bytes"));
    return done(true);
  }
  // A read-only or broken disk shows as INTERNAL, as do other failures: probe it.
  if (reason != Reason::kInternal || !probe_) return done(false);
  // Shared, because `done` must also be called if the pool takes no task.
  auto shared = std::make_shared<absl::AnyInvocable<void(bool)>>(std::move(done));
  auto told = thread_.Here<absl::Status>([this, shared](const absl::Status& status) {
    if (!status.ok()) Fail(status);
    (*shared)(!status.ok());
  });
  if (probes_.Put(
          [probe = probe_, told = std::move(told)]() mutable { told(probe(/*writes=*/true)); })) {
    return;
  }
  (*shared)(false);
}

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

void Fitness::Set(Unfit what, const std::string& why) {
  bool was_set = false;
  {
    const MutexLock lock(mutex_);
    was_set = reasons_.contains(what);
    if (why.empty()) {
      reasons_.erase(what);
    } else {
      reasons_[what] = why;
    }
  }
  if (was_set == !why.empty()) return;
  if (why.empty()) {
    Log(LogLevel::kInfo, "This node claims videos of the fleet again");
  } else {
    Log(LogLevel::kError, "This node claims no videos of the fleet for now", {{"why", why}});
  }
}

bool Fitness::fit() const {
  const MutexLock lock(mutex_);
  return reasons_.empty();
}

std::array<bool, kUnfits> Fitness::All() const {
  std::array<bool, kUnfits> all{};
  const MutexLock lock(mutex_);
  for (const auto& [what, why] : reasons_) all[static_cast<size_t>(what)] = true;
  return all;
}

std::string Fitness::Why() const {
  std::string all;
  const MutexLock lock(mutex_);
  for (const auto& [what, why] : reasons_) absl::StrAppend(&all, all.empty() ? "" : "; ", why);
  return all;
}

}  // namespace reel::front
