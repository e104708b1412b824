// SPDX-License-Identifier: Apache-2.0
// A thread that writes into the fleet's log, so that threads that decide never block on a broker.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/subjects.h"

namespace reel::front {

// Thread-safe.
class WriteQueue {
 public:
  // Called on the thread of the queue or of the log with the final result of LogPort::Write.
  using Done = absl::AnyInvocable<void(absl::StatusOr<WriteResult>)>;

  // `writer` prefixes each message's id and must be unique. `port` outlives it.
  WriteQueue(LogPort& port, std::string writer);
  // Drops unwritten messages without calling `done`.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // Retries until the write is won, lost or refused, or `patience` is over. With infinite patience
  // it also waits for a log that is full or unreachable.
  void Put(const LogSubject& subject, std::string payload, absl::Duration patience, Done done);
  // Stores several messages in order, all or none; for a lone server's log. The result has the last
  // one's sequence.
  void PutTogether(std::vector<LogMessage> messages, absl::Duration patience, Done done);
  // Number of waiting messages.
  size_t size();
  // Blocks until every message put before was tried, whatever the outcome.
  void WaitForTries();
  // Messages by outcome; unknown are those given up without an answer.
  struct Counts {
    int64_t won = 0, lost = 0, unknown = 0, refused = 0;
  };
  Counts counts();

 private:
  struct Item {
    LogWrite write;
    absl::Time end;
    Done done;
  };
  std::string NextId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Returns when the log has answered all of them. Those to retry are in `left_`.
  void TryAll(std::vector<Item> items);
  void Try(Item item);
  void Settle(Item item, absl::StatusOr<WriteResult> result);
  void Count(const absl::StatusOr<WriteResult>& result);

  LogPort& port_;
  const bool posts_at_once_;  // the thread then only retries
  const std::string writer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t tried_ ABSL_GUARDED_BY(mutex_) = 0;  // of the written ones
  size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Item> left_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
