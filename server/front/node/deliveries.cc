// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/deliveries.h"

#include <algorithm>
#include <utility>

#include "server/front/node/object_keys.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(5);
constexpr absl::Duration kBetweenLooks = absl::Seconds(2);

}  // namespace

void Deliveries::Deliver(const Video& video, uint32_t epoch, std::function<bool()> mine,
                         Answer<std::string> done) {
  auto delivery = std::make_shared<Delivery>();
  delivery->file = {store_.path_of(video.id, video.attempt), video.media.size_bytes,
                    video.media.sha256, video.media.content_type};
  delivery->key = MediaKey(state_.options.fleet, video.tenant, video.id, epoch);
  delivery->video = video.id;
  delivery->mine = std::move(mine);
  delivery->done = std::move(done);
  delivery->pause = kFirstPause;
  Count(1, delivery->file.size);
  Try(delivery);
}

void Deliveries::Count(int by, int64_t bytes) {
  counts_.waiting += by;
  counts_.waiting_bytes += bytes;
  store_state_.SetWaiting(counts_.waiting, full());
}

void Deliveries::Try(const Shared& delivery) {
  if (!delivery->mine()) {
    return End(delivery, absl::AbortedError("the video is no longer this server's"));
  }
  auto tried = ports_.thread.Here<absl::Status>(
      [this, delivery](const absl::Status& status) { OnTried(delivery, status); });
  const bool taken =
      pool_->Put([store = store_.objects, key = delivery->key, file = delivery->file,
                  tried = std::move(tried)]() mutable { tried(store->PutFile(key, file)); });
  if (!taken) TryLater(delivery);
}

void Deliveries::OnTried(const Shared& delivery, const absl::Status& status) {
  store_state_.Note(status);
  counts_.failed_tries += MayPass(status) ? 1 : 0;
  if (MayPass(status) || absl::IsCancelled(status)) return TryLater(delivery);
  End(delivery, status);
}

void Deliveries::TryLater(const Shared& delivery) {
  const absl::Duration end = ports_.clock.Monotonic() + delivery->pause;
  delivery->pause = std::min(2 * delivery->pause, kLongestPause);
  state_.waiters.Add([delivery] { return !delivery->mine(); }, end,
                     [this, delivery](bool) { Try(delivery); });
}

void Deliveries::End(const Shared& delivery, const absl::Status& status) {
  Count(-1, -delivery->file.size);
  ++(status.ok() ? counts_.stored : counts_.given_up);
  if (status.ok()) return delivery->done(delivery->key);
  Log(LogLevel::kError, "The result of a video was not brought into the fleet's object store",
      {{"video", delivery->video}, {"error", status}});
  delivery->done(status);
}

// Probes even without uploads, since the status says whether the store works.
void Deliveries::Tick(absl::Duration now) {
  if (!enabled() || store_state_.good() || looking_ || now - looked_ < kBetweenLooks) return;
  looked_ = now;
  auto looked = ports_.thread.Here<absl::Status>([this](const absl::Status& status) {
    looking_ = false;
    store_state_.Note(status);
  });
  looking_ = pool_->Put(
      [store = store_.objects, prefix = MediaPrefix(state_.options.fleet) + "-",
       looked = std::move(looked)]() mutable { looked(store->List(prefix, "").status()); });
}

}  // namespace reel::front
