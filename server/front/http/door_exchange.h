// SPDX-License-Identifier: Apache-2.0
// One request's way to its reply: what handlers, jobs and the pump hold of a connection. They may
// do so for as long as they like; the connection lets go of it first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/api/call_observer.h"
#include "server/front/api/stream_driver.h"
#include "server/front/http/door_message.h"

namespace reel::front {

// Counts each tenant's open streams at the door, and limits them.
// Thread-safe.
class TenantStreams {
 public:
  // `most`: of one tenant's; 0: any number.
  explicit TenantStreams(int most);

  // A place, for as long as it is held; it may outlive this. TENANT_QUOTA where all are taken.
  absl::StatusOr<std::shared_ptr<const void>> Take(const std::string& tenant) const;

 private:
  struct Open {
    Mutex mutex;
    std::map<std::string, int> count ABSL_GUARDED_BY(mutex);
  };

  const int most_;
  const std::shared_ptr<Open> open_;
};

// What a connection does next for its exchange.
struct DoorWork {
  enum class Kind { kNone, kMake, kReply, kPiece, kEnd };
  Kind kind = Kind::kNone;
  std::function<DoorReply()> make;  // kMake
  DoorReply reply;                  // kReply: the whole; kPiece: the head where `first`
  bool first = false;               // of a stream's pieces
  int64_t length = -1;              // of the whole body; with `first`
  std::string bytes;                // kPiece
  bool next_at_hand = false;        // kPiece: Written is quick
};

struct DoorStreamParts {
  StreamPump& pump;
  CallObserver& observer;
  absl::Duration stall_limit;
};

// As good as without end, and a clock can still add it.
constexpr absl::Duration kForever = absl::Hours(24 * 365);

// Thread-safe.
class DoorExchange final : public std::enable_shared_from_this<DoorExchange>, private StreamCall {
 public:
  // `wake` is called on any thread when Take has something, until Detach.
  DoorExchange(const DoorStreamParts& parts, std::function<void()> wake);

  // From handlers. One of them, once; the first counts.
  void Reply(DoorReply reply);
  // The reply is made by the door's own threads: a page of videos as JSON is too much work for the
  // thread that found them.
  void ReplyWith(std::function<DoorReply()> make);
  // `allowed` is asked now and then for as long as the stream lives; `listen` lets the stream hear
  // of what is new.
  void Stream(std::unique_ptr<DoorBody> body, std::function<absl::Status()> allowed,
              const std::function<void(std::weak_ptr<JobListener>)>& listen);
  // A reply may come within `patience` of the request's arrival, instead of the usual time. `late`:
  // what else is told then; of a stream its body says it.
  void WaitAtMost(absl::Duration patience, absl::Status late = absl::OkStatus());
  // Something that is the caller's until Detach.
  void Hold(std::shared_ptr<const void> place);
  // How the stream ended, for those that depend on it; at once when the connection has gone.
  void OnEnd(std::function<void(StreamEnd)> on_end);

  // From the connection.
  DoorWork Take();
  absl::Duration patience(absl::Duration usual) const;  // finite
  // What ReplyWith gave was made.
  void Made(DoorReply reply);
  // The connection is to be broken off, whatever it does.
  bool cut() const;
  // The piece was written; or not.
  void Written(bool ok);
  void CallerGone();
  // Nothing came in time.
  void Late();
  // The last call. What became of it, for the log.
  void Detach();

  bool streams() const;
  std::string video() const;
  void SetVideo(const std::string& id);

 private:
  // StreamCall.
  StreamStep Prepare(absl::Status& end) override;
  void StartWrite() override;
  void Finish(const absl::Status& status) override;
  void Abort() override;
  absl::Status Allowed() override { return allowed_(); }

  std::shared_ptr<StreamDriver> driver() const;
  void SetReplyLocked(DoorReply reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DoorStreamParts parts_;
  // Set before the driver starts, used under its lock.
  std::unique_ptr<DoorBody> body_;
  std::function<absl::Status()> allowed_;
  std::string prepared_;
  bool head_made_ = false;

  mutable Mutex mutex_;  // taken under the driver's, never the other way round
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
  std::optional<DoorWork> work_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<StreamDriver> driver_ ABSL_GUARDED_BY(mutex_);
  std::function<void(StreamEnd)> on_end_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const void> place_ ABSL_GUARDED_BY(mutex_);
  std::string video_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Duration> patience_ ABSL_GUARDED_BY(mutex_);
  absl::Status late_ ABSL_GUARDED_BY(mutex_);
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
  bool cut_ ABSL_GUARDED_BY(mutex_) = false;
  bool detached_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
