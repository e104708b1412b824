// SPDX-License-Identifier: Apache-2.0
// Follows the owner of a video that is read here, from where the copy ends, and follows the next
// owner when the view names another: that is another copy.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/node/media_fetches.h"
#include "server/front/node/peer_port.h"

namespace reel::front {

// A copy of what one owner has of a video, its log and its file, as far as they have come; of the
// file from an offset on. One is enough for all streams of the video here, each of which is a
// cursor over it.
// Thread-safe.
class VideoMirror final : public PeerSink {
 public:
  // `attempt`: the owner's first; of its file nothing below `base` is copied. `woken` hears of all
  // that comes, but for how a stream ends: that may be told to whoever breaks it off, who has
  // locks.
  VideoMirror(int attempt, int64_t base, std::shared_ptr<Spool> spool,
              std::weak_ptr<JobListener> woken);

  absl::Status OnEntry(LogEntry entry) override;
  absl::Status OnMedia(MediaPiece piece) override;
  void OnEnd(const absl::Status& status) override;

  // The first entry after `sequence`, but neither `accepted` nor `finished`: the view tells those.
  std::optional<LogEntry> NextEntry(uint64_t sequence) const;
  int attempt() const;
  int64_t media_size() const;
  // Where the copy of the file begins.
  int64_t base() const;
  // As a Job's, of what is here; nothing of it: an empty piece.
  absl::StatusOr<MediaPiece> Read(int64_t offset, int64_t max_bytes) const;
  // Of the latest progress and the first bytes; as far as known.
  std::optional<Progress> progress() const;
  std::string content_type() const;

  // The owner has told that it is done, and all before that is here.
  bool complete() const;
  // How the stream ended, if it has; Resume goes on where it was.
  std::optional<absl::Status> ended() const;
  // Grows with all that is new: whether the owner still says anything.
  int64_t heard() const;
  // Fills what a new stream is to begin at, which is under way from now on.
  void Resume(PeerAsk& ask);

 private:
  void Restart(int attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Keep(LogEntry entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Append(MediaPiece piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake() const;

  const std::shared_ptr<Spool> spool_;
  const std::weak_ptr<JobListener> woken_;
  mutable Mutex mutex_;
  std::map<uint64_t, LogEntry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t progress_at_ ABSL_GUARDED_BY(mutex_) = 0;  // of the latest; 0: none
  uint64_t preview_at_ ABSL_GUARDED_BY(mutex_) = 0;
  int attempt_ ABSL_GUARDED_BY(mutex_);
  int64_t base_ ABSL_GUARDED_BY(mutex_);
  int64_t size_ ABSL_GUARDED_BY(mutex_);  // of the file so far, with what is below the base
  std::vector<int64_t> fragment_ends_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SpoolFile> file_ ABSL_GUARDED_BY(mutex_);
  std::string content_type_ ABSL_GUARDED_BY(mutex_);
  int64_t heard_ ABSL_GUARDED_BY(mutex_) = 0;
  bool complete_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
};

// What a node needs to hear others; nothing of it: it hears none.
struct Peers {
  std::shared_ptr<PeerPort> port;
  std::shared_ptr<Spool> spool;
};

// Whom the view names.
struct PeerTarget {
  std::string node, address;
  uint32_t epoch = 0;
  int attempt = 1;        // its first
  bool finished = false;  // it has nothing to do but to send
  bool IsSameClaim(const PeerTarget& other) const {
    return node == other.node && address == other.address && epoch == other.epoch;
  }
};

// Thread-safe. It waits for nothing.
class Forwarding {
 public:
  // `woken` hears of all that comes from the owner.
  Forwarding(Peers peers, std::string tenant, std::string id, std::weak_ptr<JobListener> woken);

  // Nothing: there is nobody to be heard.
  void Follow(std::optional<PeerTarget> target);
  // Somebody reads, from `offset` of its file on: from now on the owner is asked. A copy that
  // begins behind it is made anew.
  void Want(int64_t offset);
  // The same, of its log alone, which is copied from its beginning.
  void WantLog();
  // Time has passed. True: what is there to be read has changed.
  bool Tick(absl::Duration now);

  // Of the owner whom the view names; null: nothing is known of it yet.
  std::shared_ptr<const VideoMirror> mirror() const;
  // All of a finished video is here.
  bool complete() const;
  // The owner of a finished video has not answered for long.
  bool given_up() const;

 private:
  bool GivesUp(absl::Duration now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellLog(const char* what) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Retry(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Peers peers_;
  const std::string tenant_, id_;
  const std::weak_ptr<JobListener> woken_;
  mutable Mutex mutex_;
  std::optional<PeerTarget> target_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> wanted_ ABSL_GUARDED_BY(mutex_);  // from here on; empty: nobody reads
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
  bool told_ ABSL_GUARDED_BY(mutex_) = false;  // that it does not answer
  std::shared_ptr<VideoMirror> mirror_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PeerStream> stream_ ABSL_GUARDED_BY(mutex_);
  int64_t heard_ ABSL_GUARDED_BY(mutex_) = 0;  // of the mirror, when it last was more
  std::optional<absl::Duration> heard_at_ ABSL_GUARDED_BY(mutex_);
  int64_t opened_with_ ABSL_GUARDED_BY(mutex_) = 0;  // of the same, when it was asked last
  absl::Duration wait_ ABSL_GUARDED_BY(mutex_);      // before the next try
  std::optional<absl::Duration> retry_at_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
