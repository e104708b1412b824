// SPDX-License-Identifier: Apache-2.0
// A fleet's video as a stream sees it, wherever it runs. It joins what the view says with what its
// own job says while it is this node's, or with what its owner sends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/jobs/job.h"
#include "server/front/node/forwarding.h"
#include "server/front/node/media_fetches.h"

namespace reel::front {

// Attempts of one owner, of which it makes a few.
inline constexpr int kAttemptsPerEpoch = 100;
// The first attempt of a claim's owner; of a video that nobody has claimed yet, 1.
int AttemptOf(uint32_t epoch);
// The claim whose owner makes this attempt.
uint32_t EpochOf(int attempt);

// Who looks at it, how owners that are other nodes are heard, and what the fleet's store has.
struct Onlooker {
  std::string node;  // this one's name
  Peers peers;
  MediaFetches* fetches = nullptr;  // null: there is no store; else it outlives what is read
};

// Thread-safe. Changed by the node's thread.
class FleetVideo final : public Job {
 public:
  // `video` is what the view has of it, read.
  FleetVideo(const FleetJob& job, Video video, Onlooker onlooker = {});

  // The view has changed.
  void Update(const FleetJob& job, Video video);
  // It runs here, or no longer does.
  void SetLocal(std::shared_ptr<Job> local);
  // The file's server has not answered for long: who asks anew is to try anew.
  bool given_up() const { return forwarding_.given_up(); }
  // Time has passed.
  void Tick(absl::Duration now);

  Video Snapshot() const override;
  VideoState state() const override;
  // Of an owner that is not heard: `accepted`, `restarted` and `finished` alone. `finished` is told
  // when the view says so, and the owner has sent all that comes before.
  std::optional<LogEntry> NextEntry(uint64_t sequence) const override;
  int attempt() const override;
  int64_t media_size() const override;
  // From the fleet's store where the file is not here; WRONG_REPLICA, with the address, when
  // another node alone has it that is not heard.
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const override;
  // The first one has the owner asked: from where it reads first on, or soon for the log alone.
  void Listen(std::weak_ptr<JobListener> listener) override;

 private:
  using Mirror = std::shared_ptr<const VideoMirror>;
  std::optional<LogEntry> OwnEntry(uint64_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<MediaPiece> ReadStored(const StoredResult& result, MediaPiece piece,
                                        int64_t max_bytes) const;
  absl::Status Elsewhere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<PeerTarget> Target() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<MediaPiece> ReadFinished(const Mirror& mirror, int64_t offset,
                                          int64_t max_bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<Job> local() const;
  double Fraction() const;  // as its owner has told it here
  bool IsStored() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Onlooker onlooker_;
  const std::shared_ptr<JobListeners> listeners_;
  mutable Forwarding forwarding_;  // hears of who reads
  std::atomic<bool> listened_ = false;
  mutable Mutex mutex_;
  FleetPhase phase_ ABSL_GUARDED_BY(mutex_) = FleetPhase::kQueued;
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // in which its owner has begun
  std::string owner_, address_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string object_ ABSL_GUARDED_BY(mutex_);  // key of the result; empty: there is none
  Video video_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Job> local_ ABSL_GUARDED_BY(mutex_);
  double told_fraction_ ABSL_GUARDED_BY(mutex_) = 0;  // so far, by any owner: it never falls
};

}  // namespace reel::front
