// SPDX-License-Identifier: Apache-2.0
// A fleet's video as a stream sees it, wherever it runs: what the view says of it, and while it is
// this node's what its own job says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/jobs/job.h"
#include "server/front/node/media_fetches.h"

namespace reel::front {

// Numbers of an owner's log entries are above those of the owners before it (Adoption).
inline constexpr uint64_t kSequencesPerEpoch = 1'000'000;
// Attempts of one owner, of which it makes a few.
inline constexpr int kAttemptsPerEpoch = 100;
// The first attempt of a claim's owner; of a video that nobody has claimed yet, 1.
int AttemptOf(uint32_t epoch);

// Thread-safe. Changed by the node's thread.
class FleetVideo final : public Job, public std::enable_shared_from_this<FleetVideo> {
 public:
  // `video` is what the view has of it, read. `fetches` outlives what is read; null: the fleet has
  // no store.
  FleetVideo(const FleetJob& job, Video video, MediaFetches* fetches);

  // The view has changed.
  void Update(const FleetJob& job, Video video);
  // It runs here, or no longer does.
  void SetLocal(std::shared_ptr<Job> local);

  Video Snapshot() const override;
  VideoState state() const override;
  // The log of an owner that is another node is not here: `accepted`, `restarted` and `finished`
  // alone are told.
  std::optional<LogEntry> NextEntry(uint64_t sequence) const override;
  int attempt() const override;
  int64_t media_size() const override;
  // From the fleet's store where the file is not here; WRONG_REPLICA, with the address, when
  // another node alone has it.
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const override;
  void Listen(std::weak_ptr<JobListener> listener) override;

 private:
  std::optional<LogEntry> OwnEntry(uint64_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<MediaPiece> ReadStored(const StoredResult& result, MediaPiece piece,
                                        int64_t max_bytes) const;
  absl::Status Elsewhere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<Job> local() const;
  void WakeAll() const;

  MediaFetches* const fetches_;
  mutable Mutex mutex_;
  FleetPhase phase_ ABSL_GUARDED_BY(mutex_);
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_);
  std::string owner_, address_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_);
  std::string object_ ABSL_GUARDED_BY(mutex_);  // key of the result; empty: there is none
  Video video_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Job> local_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<JobListener>> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
