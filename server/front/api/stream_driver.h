// SPDX-License-Identifier: Apache-2.0
// The life of one server stream: one write outstanding, the next message built when the last was
// taken, Finish exactly once and chosen under the lock. Free of gRPC, which is behind StreamCall.
//
// Note: [Who keeps whom] Jobs, callbacks and the pump keep the driver; the driver keeps a pointer
// to the call's reactor from its making to OnDone, under the lock. So nobody outside ever holds a
// reactor, and gRPC may free it whenever it is done.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/api/video_cursor.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// Something that can be moved on. Both calls come on the pump's threads and must be short.
class Pumped {
 public:
  virtual ~Pumped() = default;
  virtual void Pump() = 0;
  // A few times per stall limit.
  virtual void Check() = 0;
  // The server goes down: end as soon as there is nothing to send.
  virtual void Close() = 0;
};

// Threads that move streams on when their job wakes them, so that the dispatcher, which wakes them,
// neither reads files nor writes to sockets. They also watch what no event tells of: writes that
// stall, callers whose token is gone.
// Thread-safe. Must outlive every call of Post; streams are held only while they wait here, and
// weakly for the watch.
class StreamPump {
 public:
  // Checks streams every `period`.
  StreamPump(int threads, absl::Duration period);
  ~StreamPump();
  StreamPump(const StreamPump&) = delete;
  StreamPump& operator=(const StreamPump&) = delete;

  // Pump is called soon. Not deduplicated: that is the stream's own matter.
  void Post(std::shared_ptr<Pumped> stream);
  // Check is called until it is gone.
  void Watch(std::weak_ptr<Pumped> stream);
  // Close of every stream that is watched, on the caller's thread; and of those that come later.
  void CloseAll();

 private:
  void RunPump();
  void RunWatch();
  std::vector<std::shared_ptr<Pumped>> Alive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t pumps_;
  const absl::Duration period_;
  Mutex mutex_;
  CondVar posted_, stop_;
  std::deque<std::shared_ptr<Pumped>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<Pumped>> watched_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// What a driver needs of the call. Called under the driver's lock.
class StreamCall {
 public:
  virtual ~StreamCall() = default;
  // Builds the next message, or says why there is none. Only after Start.
  virtual StreamStep Prepare(absl::Status& end) = 0;
  // Sends what Prepare built; OnWriteDone follows on another thread.
  virtual void StartWrite() = 0;
  virtual void Finish(const absl::Status& status) = 0;
  // Breaks the call off: OnCancel and OnWriteDone(false) follow.
  virtual void Abort() = 0;
  // Not OK when the caller may no longer have what the stream sends. Only after Start.
  virtual absl::Status Allowed() = 0;
};

// Why a stream's call is over, for those that depend on it.
enum class StreamEnd { kServed, kCallerGone, kSlowReader };

// Thread-safe.
class StreamDriver : public JobListener,
                     public Pumped,
                     public std::enable_shared_from_this<StreamDriver> {
 public:
  // `call` is used until Detach.
  StreamDriver(StreamCall& call, StreamPump& pump, absl::Duration stall_limit);

  // There is something to send from now on. The work is the pump's, so that a dispatcher can call
  // it.
  void Start();
  // Ends the stream as soon as no write is outstanding; also the pump's work.
  void Fail(const absl::Status& status);
  // The same at once, on the caller's thread: calls that are refused faster than the pump ends them
  // would pile up.
  void FailNow(const absl::Status& status);

  // From the reactor.
  void OnWriteDone(bool ok);
  void OnCancel();
  // The last call: the reactor is about to go.
  StreamEnd Detach();

  // JobListener: posts to the pump, unless that was done already.
  void Wake() override;
  // Pumped.
  void Pump() override;
  void Check() override;
  // Ends with SERVER_DRAINING once there is nothing to send: what is there is still delivered.
  void Close() override;

 private:
  using Clock = std::chrono::steady_clock;

  void CheckStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckAllowed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishOnce(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  StreamPump& pump_;
  const absl::Duration stall_limit_;
  Mutex mutex_;
  StreamCall* call_ ABSL_GUARDED_BY(mutex_);  // null once detached
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool posted_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  StreamEnd end_ ABSL_GUARDED_BY(mutex_) = StreamEnd::kServed;
  std::optional<absl::Status> failure_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point write_began_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
