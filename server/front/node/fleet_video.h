// SPDX-License-Identifier: Apache-2.0
// A fleet's video as a stream sees it, wherever it runs. Combines the view with this node's own
// job, or with what the owning node sends.
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

// Attempt numbers reserved for one owner, which uses only a few.
inline constexpr int kAttemptsPerEpoch = 100;
// The first attempt number of an epoch's owner; 1 for a video that was never claimed.
int AttemptOf(uint32_t epoch);
// The epoch that an attempt number belongs to.
uint32_t EpochOf(int attempt);

// Sources that a FleetVideo reads from: other nodes and the fleet's store.
struct Onlooker {
  std::string node;  // name of this one
  Peers peers;
  MediaFetches* fetches = nullptr;  // null without a store; else outlives all readers
};

// Thread-safe. Updated by the node's thread.
class FleetVideo final : public Job {
 public:
  // `video`: the view's record, decoded.
  FleetVideo(const FleetJob& job, Video video, Onlooker onlooker = {});

  // The view has changed.
  void Update(const FleetJob& job, Video video);
  // Sets this node's own job for the video; null once it no longer runs here.
  void SetLocal(std::shared_ptr<Job> local);
  // Whether the node that has the file has not answered for long; the next reader starts over with
  // a new FleetVideo.
  bool given_up() const { return forwarding_.given_up(); }
  // Called on every tick.
  void Tick(absl::Duration now);

  Video Snapshot() const override;
  VideoState state() const override;
  // If the owner cannot be reached, returns only `accepted`, `restarted` and `finished`. `finished`
  // comes when the view says so and everything before it has arrived.
  std::optional<LogEntry> NextEntry(uint64_t sequence) const override;
  int attempt() const override;
  int64_t media_size() const override;
  // Reads from the fleet's store if the file is not here. WRONG_REPLICA, with its address, if only
  // a node has it that cannot be reached.
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const override;
  // The first listener makes this node ask the owner: from the offset of the first read on, or for
  // the log alone if no read follows soon.
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
  double Fraction() const;  // as its owner has sent it
  bool IsStored() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Onlooker onlooker_;
  const std::shared_ptr<JobListeners> listeners_;
  mutable Forwarding forwarding_;  // told of each read
  std::atomic<bool> listened_ = false;
  mutable Mutex mutex_;
  FleetPhase phase_ ABSL_GUARDED_BY(mutex_) = FleetPhase::kQueued;
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // in which its owner started it
  std::string owner_, address_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string object_ ABSL_GUARDED_BY(mutex_);  // key of the result; empty if there is none
  Video video_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Job> local_ ABSL_GUARDED_BY(mutex_);
  double told_fraction_ ABSL_GUARDED_BY(mutex_) = 0;  // over all owners: never decreases
};

}  // namespace reel::front
