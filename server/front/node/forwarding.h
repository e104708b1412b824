// SPDX-License-Identifier: Apache-2.0
// Streams a video from the node that owns it. Continues where its copy ends, and starts another
// copy when the view names another owner.
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

// A copy of one owner's log and file of a video, as far as received; the file from an offset on.
// All streams of the video on this node share it, each with its own cursor.
// Thread-safe.
class VideoMirror final : public PeerSink {
 public:
  // `attempt`: the owner's first. The file is copied from offset `base` on. `woken` is called for
  // everything received, but not for the end of a stream: whoever cancels the stream may hold locks
  // then.
  VideoMirror(int attempt, int64_t base, std::shared_ptr<Spool> spool,
              std::weak_ptr<JobListener> woken);

  absl::Status OnEntry(LogEntry entry) override;
  absl::Status OnMedia(MediaPiece piece) override;
  void OnEnd(const absl::Status& status) override;

  // The first entry after `sequence`, without `accepted` and `finished`, which come from the view.
  std::optional<LogEntry> NextEntry(uint64_t sequence) const;
  // As Job::ReadMedia, of what has been received; an empty piece if there is nothing.
  absl::StatusOr<MediaPiece> Read(int64_t offset, int64_t max_bytes) const;
  // The latest progress, if any.
  std::optional<Progress> progress() const;
  struct State {
    int attempt = 1;
    int64_t base = 0;               // offset at which the copy of the file begins
    int64_t size = 0;               // of the file so far, including what lies below the base
    std::string content_type = {};  // empty: not known yet
    int64_t heard = 0;              // increases with everything received: the owner is alive
    bool complete = false;          // the owner has finished, and all before that has arrived
    std::optional<absl::Status> ended = {};  // how the stream ended; Resume continues from there
  };
  State state() const;
  // Fills `ask` with the position of a new stream and marks it as started.
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
  uint64_t progress_at_ ABSL_GUARDED_BY(mutex_) = 0;  // of the latest; 0 if none
  uint64_t preview_at_ ABSL_GUARDED_BY(mutex_) = 0;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::vector<int64_t> fragment_ends_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SpoolFile> file_ ABSL_GUARDED_BY(mutex_);
};

// Access to other nodes' streams; empty if this node does not use them.
struct Peers {
  std::shared_ptr<PeerPort> port;
  std::shared_ptr<Spool> spool;
};

// The owner that the view names.
struct PeerTarget {
  std::string node, address;
  uint32_t epoch = 0;
  int attempt = 1;        // its first attempt
  bool finished = false;  // it only sends
  bool IsSameClaim(const PeerTarget& other) const {
    return node == other.node && address == other.address && epoch == other.epoch;
  }
};

// Thread-safe. Never blocks.
class Forwarding {
 public:
  // `woken` is called for everything received from the owner.
  Forwarding(Peers peers, std::string tenant, std::string id, std::weak_ptr<JobListener> woken);

  // nullopt: there is no owner to stream from.
  void Follow(std::optional<PeerTarget> target);
  // A reader wants the file from `offset` on: starts to stream. A copy that begins after `offset`
  // is discarded.
  void Want(int64_t offset);
  // A reader wants the log only, which is copied from its beginning.
  void WantLog();
  // Called on every tick. Returns whether there is something new to read.
  bool Tick(absl::Duration now);

  // The copy of the current owner's video; null if nothing has been received yet.
  std::shared_ptr<const VideoMirror> mirror() const;
  // Whether the owner of a finished video has not answered for long.
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
  std::optional<int64_t> wanted_ ABSL_GUARDED_BY(mutex_);  // offset; empty if nobody reads
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
  bool told_ ABSL_GUARDED_BY(mutex_) = false;  // the log says that it does not answer
  std::shared_ptr<VideoMirror> mirror_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PeerStream> stream_ ABSL_GUARDED_BY(mutex_);
  int64_t heard_ ABSL_GUARDED_BY(mutex_) = 0;  // of the mirror, at its last increase
  std::optional<absl::Duration> heard_at_ ABSL_GUARDED_BY(mutex_);
  int64_t opened_with_ ABSL_GUARDED_BY(mutex_) = 0;  // likewise, when it was last asked
  absl::Duration wait_ ABSL_GUARDED_BY(mutex_);      // before the next try
  std::optional<absl::Duration> retry_at_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
