// SPDX-License-Identifier: Apache-2.0
// Follows the log in order and without gaps, on a thread of its own. Uses the copies that the
// broker sends of new messages; reads from the stream what those leave out.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

class LogTail {
 public:
  // Arguments outlive it.
  LogTail(const LogConnection& connection, TailStart start, LogReader& reader);
  ~LogTail();
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;

  // How often the copies had a gap or were missing.
  int64_t holes() const { return holes_; }
  int64_t rebuilds() const { return rebuilds_; }
  // Whether the last query of the stream succeeded, and the newest sequence then.
  bool answers() const { return answers_; }
  uint64_t newest() const { return newest_; }

 private:
  void Run();
  bool Listen();
  bool CatchUp();
  void Follow();
  // Returns false while it is unknown whether the position belongs to this stream.
  bool CheckPosition(const StreamFacts& facts);
  bool ReadUpTo(uint64_t last);
  bool Drain(natsSubscription& subscription, uint64_t last);
  void Rebuild(const StreamFacts& facts);
  // Adds to the next batch and passes it on when it is large enough; false as Tell.
  bool Add(natsMsg& message, uint64_t sequence, std::string subject);
  // Passes the batch to the reader. Returns false if the reader lost its state, so that everything
  // is read again.
  bool Tell();
  bool ReadAnew();
  void FollowToHole();
  void Pause(absl::Duration pause);
  bool stopping();

  const LogConnection& connection_;
  LogReader& reader_;
  std::atomic<int64_t> holes_ = 0;
  std::atomic<int64_t> rebuilds_ = 0;
  std::atomic<bool> answers_ = false;
  std::atomic<uint64_t> newest_ = 0;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Used by the thread only.
  uint64_t position_;
  int64_t created_;
  std::vector<StoredMessage> next_;  // read up to `position_`, not passed on yet
  size_t next_bytes_ = 0;
  int looks_behind_ = 0;
  bool followed_ = false;
  NatsSubscriptionPtr live_;
  std::thread thread_;
};

}  // namespace reel::front
