// SPDX-License-Identifier: Apache-2.0
// The queue of messages to the front. Control goes before media; a job's last message goes behind
// its media and its state. Bounded: both block their producer, newer reports replace older ones.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "kernels/base/mutex.h"
#include "reel/worker/v1/worker.pb.h"

namespace reel::worker {

// Thread-safe.
class Outbox {
 public:
  using Message = worker::v1::AttachRequest;
  // The most steps in one report; the oldest are dropped if the front does not read.
  static constexpr int kMaxSteps = 256;

  explicit Outbox(int64_t max_media_bytes) : max_media_bytes_(max_media_bytes) {}

  // False: the outbox is closed and the message is dropped. The kind of a message decides its
  // place:
  // - media, and the state that a job leaves, block while the bound is reached;
  // - a job's success goes behind its media;
  // - a job's failure drops its waiting media and overtakes the rest;
  // - all else goes before media.
  // A newer message replaces an older one: a step of the same stage (except the first), a preview
  // of the same job, a heartbeat; steps are gathered into one message.
  bool Push(Message message);

  // Blocks; nullopt once it is closed, or ended and empty.
  std::optional<Message> Pop();

  // Nothing more will be pushed; what is queued still goes out.
  void End();
  // The stream is gone: drops everything and releases blocked callers. Idempotent.
  void Close();

 private:
  void Put(Message message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Replaces(Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_media_bytes_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Message> control_ ABSL_GUARDED_BY(mutex_);
  std::deque<Message> media_ ABSL_GUARDED_BY(mutex_);  // and last messages
  int64_t media_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::worker
