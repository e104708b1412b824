// SPDX-License-Identifier: Apache-2.0
// A job whose life a test writes line by line.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "server/errors/error.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// Thread-safe. Bytes are kept in memory; fragments end where the script says.
class ScriptedJob final : public Job {
 public:
  explicit ScriptedJob(Video video) : video_(std::move(video)) {
    entries_.push_back({1, absl::Now(), AcceptedEvent{}});
  }

  // The script. Each wakes the listeners.
  void Made(const model::GenerationSpec& spec) {
    Change([&] { video_.spec = spec; });
  }
  void Progress(int step) {
    Change([&] {
      video_.state = VideoState::kRunning;
      video_.progress.step = step;
      entries_.push_back({NextSequence(), absl::Now(), ProgressEvent{video_.progress}});
    });
  }
  void Preview(int step) {
    Change([&] {
      entries_.push_back({NextSequence(), absl::Now(), PreviewEvent{step, "jpeg", 32, 32}});
    });
  }
  void Media(const std::string& bytes, bool fragment_end = true) {
    Change([&] {
      video_.media.content_type = "video/mp4; codecs=\"avc1.64000d\"";
      file_ += bytes;
      if (fragment_end) fragment_ends_.push_back(static_cast<int64_t>(file_.size()));
    });
  }
  // What lies behind `offset` is on its way from elsewhere.
  void HoldBack(int64_t offset) {
    Change([&] { here_ = offset; });
  }
  void Restart(const std::string& reason) {
    Change([&] {
      file_.clear();
      fragment_ends_.clear();
      ++video_.attempt;
      entries_.push_back({NextSequence(), absl::Now(), RestartedEvent{reason, video_.attempt}});
    });
  }
  void Succeed() {
    Change([&] {
      video_.state = VideoState::kSucceeded;
      video_.media.size_bytes = static_cast<int64_t>(file_.size());
      video_.media.sha256 = "feed";
      entries_.push_back({NextSequence(), absl::Now(), FinishedEvent{}});
    });
  }
  void End(VideoState state, const absl::Status& error) {
    Change([&] {
      video_.state = state;
      video_.error = error;
    });
  }

  Video Snapshot() const override {
    MutexLock lock(mutex_);
    ++snapshots_;
    return video_;
  }
  VideoState state() const override {
    MutexLock lock(mutex_);
    return video_.state;
  }
  std::optional<LogEntry> NextEntry(uint64_t sequence) const override {
    MutexLock lock(mutex_);
    for (const LogEntry& entry : entries_) {
      if (entry.sequence > sequence) return entry;
    }
    return std::nullopt;
  }
  int attempt() const override {
    MutexLock lock(mutex_);
    return video_.attempt;
  }
  int64_t media_size() const override {
    MutexLock lock(mutex_);
    return static_cast<int64_t>(file_.size());
  }
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const override {
    MutexLock lock(mutex_);
    const auto size = static_cast<int64_t>(file_.size());
    if (offset > size && IsFinal(video_.state)) {
      return MakeError(Reason::kOffsetPastEnd, "The offset lies past the end of the file");
    }
    MediaPiece piece{video_.attempt, offset, "", false};
    if (offset >= size) return piece;
    piece.pending = offset >= here_;
    if (piece.pending) return piece;
    int64_t end = std::min({size, here_, offset + max_bytes});
    for (const int64_t fragment : fragment_ends_) {
      if (fragment <= offset) continue;
      end = std::min(end, fragment);
      piece.fragment_end = end == fragment;
      break;
    }
    piece.bytes = file_.substr(static_cast<size_t>(offset), static_cast<size_t>(end - offset));
    return piece;
  }
  void Listen(std::weak_ptr<JobListener> listener) override {
    MutexLock lock(mutex_);
    listeners_.push_back(std::move(listener));
  }
  // Calls of Snapshot so far.
  int snapshots() const {
    MutexLock lock(mutex_);
    return snapshots_;
  }
  int listeners() const {
    MutexLock lock(mutex_);
    int alive = 0;
    for (const auto& listener : listeners_) alive += listener.expired() ? 0 : 1;
    return alive;
  }

 private:
  uint64_t NextSequence() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return next_sequence_ += 3; }

  template <typename F>
  void Change(const F& change) {
    std::vector<std::weak_ptr<JobListener>> listeners;
    {
      MutexLock lock(mutex_);
      change();
      listeners = listeners_;
    }
    for (const auto& weak : listeners) {
      if (const auto listener = weak.lock()) listener->Wake();
    }
  }

  mutable Mutex mutex_;
  Video video_ ABSL_GUARDED_BY(mutex_);
  std::vector<LogEntry> entries_ ABSL_GUARDED_BY(mutex_);
  std::string file_ ABSL_GUARDED_BY(mutex_);
  int64_t here_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> fragment_ends_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<JobListener>> listeners_ ABSL_GUARDED_BY(mutex_);
  mutable int snapshots_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_sequence_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace reel::front
