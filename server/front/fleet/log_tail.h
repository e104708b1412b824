// SPDX-License-Identifier: Apache-2.0
// Reads the log in order and without holes, for ever, on a thread of its own. Copies that the
// broker sends of what it stores are the quick way; whatever they leave out is read from the
// stream.
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
  // Both outlive it.
  LogTail(const LogConnection& connection, TailStart start, LogReader& reader);
  ~LogTail();
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;

  // How often the copies had a hole, or were silent while something was stored.
  int64_t holes() const { return holes_; }
  int64_t rebuilds() const { return rebuilds_; }
  // Whether the stream could be looked at the last time, and what came last then.
  bool answers() const { return answers_; }
  uint64_t newest() const { return newest_; }

 private:
  void Run();
  bool Listen();
  bool CatchUp();
  void Follow();
  // False: it is not known yet whether the position is one of this stream.
  bool CheckPosition(const StreamFacts& facts);
  bool ReadUpTo(uint64_t last);
  bool Drain(natsSubscription& subscription, uint64_t last);
  void Rebuild(const StreamFacts& facts);
  // To what is told next, which it tells when that is enough; false as Tell.
  bool Add(natsMsg& message, uint64_t sequence, std::string subject);
  // Tells the reader what was read. False: it has lost what it had, and all is read anew.
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
  // Of the thread.
  uint64_t position_;
  int64_t created_;
  std::vector<StoredMessage> next_;  // read up to `position_`, and not told yet
  size_t next_bytes_ = 0;
  int looks_behind_ = 0;
  bool followed_ = false;
  NatsSubscriptionPtr live_;
  std::thread thread_;
};

}  // namespace reel::front
