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

// Wake is called when a job has news, sometimes without any, on any thread with no lock of the job
// held. It must not block.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void Wake() = 0;
};

// Entries of the log. `accepted` and `finished` concern the whole video, which readers take from
// the job: entries are copied for every message of every stream.
struct AcceptedEvent {};
struct ProgressEvent {
  Progress progress;
};
using PreviewEvent = JobPreview;  // as the worker sent it
struct RestartedEvent {
  std::string reason;
  int attempt = 1;
};
struct FinishedEvent {};  // only for a success; the video is final

struct LogEntry {
  uint64_t sequence = 0;
  absl::Time time;
  std::variant<AcceptedEvent, ProgressEvent, PreviewEvent, RestartedEvent, FinishedEvent> event;
};

// A piece of one attempt's file.
struct MediaPiece {
  int attempt = 1;
  int64_t offset = 0;
  std::string bytes;          // empty: nothing there yet
  bool fragment_end = false;  // the file plays up to the end of this piece
  bool pending = false;       // of an empty one: there is more, and it is on its way from elsewhere
};

// Thread-safe. The dispatcher feeds live jobs; a job from the store is final from the start.
class Job {
 public:
  virtual ~Job() = default;

  // A copy of everything; for single messages use the accessors below.
  virtual Video Snapshot() const = 0;
  virtual VideoState state() const = 0;

  // The first entry after `sequence`, if any. Entry 1 is `accepted`. A `finished` entry is the
  // last.
  virtual std::optional<LogEntry> NextEntry(uint64_t sequence) const = 0;

  // The current or last attempt.
  virtual int attempt() const = 0;
  // Readable bytes of the current attempt's file.
  virtual int64_t media_size() const = 0;
  // Up to `max_bytes` of the current attempt's file from `offset` on, never past a fragment's end.
  // Reads a local file and does not block; a Wake follows a `pending` answer. OUT_OF_RANGE if the
  // job is final and `offset` is past the end; DATA_LOSS if the file is damaged.
  virtual absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const = 0;

  // Holds `listener` weakly and wakes it for as long as it exists.
  virtual void Listen(std::weak_ptr<JobListener> listener) = 0;
};

// The listeners of a job. A listener itself, so that a job in front of another passes on its wakes.
// Thread-safe.
class JobListeners final : public JobListener {
 public:
  // Held weakly.
  void Add(std::weak_ptr<JobListener> listener) {
    const MutexLock lock(mutex_);
    std::erase_if(listeners_, [](const auto& known) { return known.expired(); });
    listeners_.push_back(std::move(listener));
  }
  // Wakes all existing listeners, with no lock held.
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
