// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/disk_watch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/errors/error.h"

namespace reel::front {
namespace {

// After a failure, doubled by each that follows within kDiskCalm.
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
  // A failure that came meanwhile knows more.
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
  // A disk that is read-only or broken shows as an internal error, as other things do.
  if (reason != Reason::kInternal || !probe_) return done(false);
  // Whoever is not taken is told: the answer is one of two owners'.
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

}  // namespace reel::front
