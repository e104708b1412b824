// SPDX-License-Identifier: Apache-2.0
// A Job of this server: an event log in memory and a media file. The dispatcher's thread feeds a
// live one; one from the store is final from the start.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernels/base/mutex.h"
#include "server/front/jobs/job.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// The error of a reader that asks for bytes behind the end of a file: OFFSET_PAST_END.
absl::Status OffsetPastEnd(int64_t offset, int64_t size);

// Thread-safe; only the dispatcher's thread changes it. `media` outlives it.
class LoggedJob final : public Job {
 public:
  // A live job. Its entries' numbers are above `after`, and above 1.
  LoggedJob(Video video, uint64_t after, const MediaStore& media);
  // A final one.
  static std::shared_ptr<LoggedJob> FromStore(Video video, const JobRow& row,
                                              const MediaStore& media);

  Video Snapshot() const override;
  VideoState state() const override;
  std::optional<LogEntry> NextEntry(uint64_t sequence) const override;
  int attempt() const override;
  int64_t media_size() const override;
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t max_bytes) const override;
  void Listen(std::weak_ptr<JobListener> listener) override { listeners_.Add(std::move(listener)); }

  // Changes the snapshot without an entry.
  void Edit(absl::FunctionRef<void(Video&)> change);
  // Replaces the previous progress unless that has `keep`. The fraction never decreases.
  void AddProgress(absl::Time now, Progress progress, bool keep);
  // Replaces the previous preview.
  void AddPreview(absl::Time now, PreviewEvent preview);
  // The file of `attempt` is readable up to `size`.
  void GrowMedia(int attempt, int64_t size, bool fragment_end);
  // Reserves a number for an entry that is stored before it is added.
  uint64_t TakeSequence();
  // Starts a new attempt, with the media at 0.
  void AddRestart(const RestartRow& restart, absl::FunctionRef<void(Video&)> change);
  // The stored file is about to be deleted: a read that does not find it returns `why`.
  void MarkRemoved(absl::Status why);
  // Makes the job final. A success adds `finished` with `sequence`; anything else drops the media.
  void End(Video video, uint64_t sequence);

  std::vector<int64_t> fragment_ends() const;
  int queue_position() const;

 private:
  absl::Status WhyUnread(const std::string& id, const absl::Status& error) const;
  using Entries = std::map<uint64_t, LogEntry>;
  void AddRestartEntry(const RestartRow& restart) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(uint64_t& sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MediaStore& media_;
  mutable Mutex mutex_;
  Video video_ ABSL_GUARDED_BY(mutex_);
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // from 2 on
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 2;
  uint64_t replaceable_ ABSL_GUARDED_BY(mutex_) = 0;  // the latest progress; 0 if none
  uint64_t preview_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t media_size_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<int64_t> fragment_ends_ ABSL_GUARDED_BY(mutex_);
  BlockSums block_sums_ ABSL_GUARDED_BY(mutex_);  // only for a job from the store
  mutable std::shared_ptr<const MediaReader> reader_ ABSL_GUARDED_BY(mutex_);
  mutable int reader_attempt_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status removed_ ABSL_GUARDED_BY(mutex_);  // why its file is missing, if not OK
  JobListeners listeners_;
};

}  // namespace reel::front
