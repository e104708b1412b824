// SPDX-License-Identifier: Apache-2.0
// Follows the owner of a video that is read here, from where the copy ends, and follows the next
// owner when the view names another: that is another copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/node/peer_port.h"
#include "server/front/node/spool.h"
#include "server/front/node/video_mirror.h"

namespace reel::front {

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
