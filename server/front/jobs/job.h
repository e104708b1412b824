// SPDX-License-Identifier: Apache-2.0
// A job is an event log plus a media file. Every stream is a cursor over both, so a slow reader
// costs a file offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/jobs/video.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Woken when a job has something new. Wake is called on any thread with no lock of the job held,
// sometimes without a change, and must not block.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void Wake() = 0;
};

// Entries of the log. `accepted` and `finished` are about the whole video, which the job has: an
// entry is copied for every message of every stream, so it does not carry one.
struct AcceptedEvent {};
struct ProgressEvent {
  Progress progress;
};
using PreviewEvent = JobPreview;  // as its worker sent it
struct RestartedEvent {
  std::string reason;
  int attempt = 1;
};
struct FinishedEvent {};  // of a success only: nothing changes the video any more

struct LogEntry {
  uint64_t sequence = 0;
  absl::Time time;
  std::variant<AcceptedEvent, ProgressEvent, PreviewEvent, RestartedEvent, FinishedEvent> event;
};

// A piece of the file of one attempt.
struct MediaPiece {
  int attempt = 1;
  int64_t offset = 0;
  std::string bytes;          // empty: nothing there yet
  bool fragment_end = false;  // the file plays up to the end of this piece
  bool pending = false;       // of an empty one: there is more, and it is on its way from elsewhere
};

// Thread-safe. Live jobs are fed by the dispatcher; one read back from the store is final from the
// start.
class Job {
 public:
  virtual ~Job() = default;

  // A copy of everything; for a stream's single message, ask for what it needs.
  virtual Video Snapshot() const = 0;
  virtual VideoState state() const = 0;

  // The first entry after `sequence`, if any. Entry 1 is `accepted`. A `finished` entry is the
  // last.
  virtual std::optional<LogEntry> NextEntry(uint64_t sequence) const = 0;

  // The attempt under way or the last one.
  virtual int attempt() const = 0;
  // Bytes readable now of the current attempt.
  virtual int64_t media_size() const = 0;
  // Up to `max_bytes` of the current attempt's file from `offset` on, never past a fragment's end.
  // Reads a local file, and never waits; what is `pending` a Wake will tell. OUT_OF_RANGE when the
  // job is final and `offset` lies past the end; DATA_LOSS when the file is damaged.
  virtual absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const = 0;

  // Held weakly; woken for as long as it exists.
  virtual void Listen(std::weak_ptr<JobListener> listener) = 0;
};

// The listeners that a job wakes. It is a listener itself, so a job that stands in front of another
// passes on its wakes.
// Thread-safe.
class JobListeners final : public JobListener {
 public:
  // Held weakly.
  void Add(std::weak_ptr<JobListener> listener) {
    const MutexLock lock(mutex_);
    std::erase_if(listeners_, [](const auto& known) { return known.expired(); });
    listeners_.push_back(std::move(listener));
  }
  // Wakes all that still exist, with no lock held.
  void Wake() override {
    std::vector<std::shared_ptr<JobListener>> woken;
    {
      const MutexLock lock(mutex_);
      for (const auto& listener : listeners_) {
        if (auto alive = listener.lock()) woken.push_back(std::move(alive));
      }
    }
    for (const auto& listener : woken) listener->Wake();
  }

 private:
  Mutex mutex_;
  std::vector<std::weak_ptr<JobListener>> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
