// SPDX-License-Identifier: Apache-2.0
// The thread that writes into the fleet's log, so that none that decides waits for a broker.
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
  // On the thread of the queue or of the log: what LogPort::Write says, in the end.
  using Done = absl::AnyInvocable<void(absl::StatusOr<WriteResult>)>;

  // `writer` begins the id of each message: no other writer's begins like it. `port` outlives it.
  WriteQueue(LogPort& port, std::string writer);
  // What is not written stays unanswered.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // Tried until it is won, lost or refused, or `patience` is over. With infinite patience also a
  // log that is full or away is waited for.
  void Put(const LogSubject& subject, std::string payload, absl::Duration patience, Done done);
  // Several that are stored together or not at all, in their order; for a log of one's own. The
  // sequence is the last one's.
  void PutTogether(std::vector<LogMessage> messages, absl::Duration patience, Done done);
  // So many wait.
  size_t size();
  // Waits until each of those put before has been tried, however that ended.
  void WaitForTries();
  // Messages by what became of them; unknown is what was given up without an answer.
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
  // Returns when the log has answered all of them; what is to be tried again is then in `left_`.
  void TryAll(std::vector<Item> items);
  void Try(Item item);
  void Settle(Item item, absl::StatusOr<WriteResult> result);
  void Count(const absl::StatusOr<WriteResult>& result);

  LogPort& port_;
  const bool posts_at_once_;  // then the thread is for what is tried again
  const std::string writer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t tried_ ABSL_GUARDED_BY(mutex_) = 0;  // of those
  size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Item> left_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
