// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/states.h"

#include <algorithm>

#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "server/front/node/object_keys.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr char kType[] = "application/octet-stream";
constexpr absl::Duration kFirstStatePause = absl::Milliseconds(200);
constexpr absl::Duration kLongestStatePause = absl::Seconds(5);

absl::Status PutState(ObjectStore& store, const Seal& seal, const std::string& key,
                      const StatePieces& state) {
  REEL_ASSIGN_OR_RETURN(const std::string bytes, state.Join());
  return store.PutBytes(key, seal.Close(bytes, key), kType);
}

absl::StatusOr<States::Blob> GetState(ObjectStore& store, const Seal& seal, const std::string& key,
                                      int64_t size, const std::string& sha256) {
  auto bytes = store.Get(key, 0, size + Seal::kOverhead);
  if (absl::IsNotFound(bytes.status()) || absl::IsOutOfRange(bytes.status())) {
    return absl::DataLossError("the store does not have it");
  }
  REEL_RETURN_IF_ERROR(bytes.status());
  REEL_ASSIGN_OR_RETURN(std::string opened, seal.Open(*bytes, key));
  if (Sha256Hex(opened) != sha256) return absl::DataLossError("the store has other bytes");
  return std::make_shared<const std::string>(std::move(opened));
}

absl::Status NoStore() { return absl::FailedPreconditionError("there is no store for it"); }

}  // namespace

void States::Keep(const Key& video, uint32_t epoch, std::shared_ptr<const StatePieces> state,
                  std::function<bool()> wanted, Done done) {
  if (objects_ == nullptr) return done(NoStore());
  auto upload = std::make_shared<Upload>();
  upload->key = StateKey(state_.options.fleet, video.first, video.second, epoch);
  upload->state = std::move(state);
  upload->wanted = std::move(wanted);
  upload->done = std::move(done);
  upload->pause = kFirstStatePause;
  Try(upload);
}

void States::Try(const Shared& upload) {
  if (!upload->wanted()) {
    return upload->done(absl::AbortedError("the store was away when its server had to end"));
  }
  auto tried = ports_.thread.Here<absl::Status>(
      [this, upload](const absl::Status& status) { OnTried(upload, status); });
  const bool taken = uploads_->Put(
      [store = objects_, &seal = state_.options.seal, key = upload->key, state = upload->state,
       tried = std::move(tried)]() mutable { tried(PutState(*store, seal, key, *state)); });
  if (!taken) TryLater(upload);
}

void States::OnTried(const Shared& upload, const absl::Status& status) {
  store_state_.Note(status);
  // A lone server does not retry: its full disk takes no further video either.
  if (MayPass(status) && !state_.options.alone) return TryLater(upload);
  upload->done(status);
}

void States::TryLater(const Shared& upload) {
  const absl::Duration end = ports_.clock.Monotonic() + upload->pause;
  upload->pause = std::min(2 * upload->pause, kLongestStatePause);
  state_.waiters.Add([upload] { return !upload->wanted(); }, end,
                     [this, upload](bool) { Try(upload); });
}

void States::Fetch(const ViewVideo& video, const std::string& sha256,
                   absl::AnyInvocable<void(absl::StatusOr<Blob>)> done) {
  if (objects_ == nullptr) return done(NoStore());
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  const std::string& id = video.key.second;
  auto fetched =
      ports_.thread.Here<absl::StatusOr<Blob>>([this, shared, id](absl::StatusOr<Blob> blob) {
        store_state_.Note(blob.status());
        if (absl::IsDataLoss(blob.status())) {
          ++damaged_;
          Log(LogLevel::kError, "A kept state is damaged or gone",
              {{"video", id}, {"error", blob.status()}});
        }
        (*shared)(std::move(blob));
      });
  const std::string key =
      StateKey(state_.options.fleet, video.key.first, video.key.second, video.job.begun);
  const bool taken =
      reads_->Put([store = objects_, &seal = state_.options.seal, key,
                   size = video.facts.state_bytes, sha256, fetched = std::move(fetched)]() mutable {
        fetched(GetState(*store, seal, key, size, sha256));
      });
  if (!taken) (*shared)(absl::UnavailableError("too many calls wait for the object store"));
}

}  // namespace reel::front
