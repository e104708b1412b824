// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/logged_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"
#include "server/logging/log.h"

namespace reel::front {

absl::Status OffsetPastEnd(int64_t offset, int64_t size) {
  return MakeError(
      Reason::kOffsetPastEnd,
      absl::StrCat("The offset is past the end of the file: ", offset, " of ", size, " bytes"),
      {.metadata = {{"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}}});
}

namespace {

// A damaged file is somebody's loss: the log names it, and so does the answer.
absl::Status OfVideo(const std::string& id, const absl::Status& error) {
  if (ReasonOf(error) != Reason::kMediaCorrupt) return error;
  Log(LogLevel::kError, "A stored video is damaged and cannot be sent; it must be made again",
      {{"video", "videos/" + id}, {"error", error}});
  return MakeError(Reason::kMediaCorrupt, std::string(error.message()), AboutVideo(id));
}

}  // namespace

LoggedJob::LoggedJob(Video video, uint64_t after, const MediaStore& media)
    : media_(media), video_(std::move(video)), next_(std::max<uint64_t>(2, after + 1)) {}

std::shared_ptr<LoggedJob> LoggedJob::FromStore(Video video, const JobRow& row,
                                                const MediaStore& media) {
  auto job = std::make_shared<LoggedJob>(std::move(video), 0, media);
  MutexLock lock(job->mutex_);
  for (const RestartRow& restart : row.restarts) job->AddRestartEntry(restart);
  job->media_size_ = row.media_bytes;
  job->fragment_ends_ = row.fragment_ends;
  job->block_sums_ = row.block_sums;
  if (job->video_.state == VideoState::kSucceeded) {
    job->entries_[row.last_sequence] = {row.last_sequence, job->video_.end_time, FinishedEvent{}};
  }
  return job;
}

Video LoggedJob::Snapshot() const {
  MutexLock lock(mutex_);
  return video_;
}

VideoState LoggedJob::state() const {
  MutexLock lock(mutex_);
  return video_.state;
}

std::optional<LogEntry> LoggedJob::NextEntry(uint64_t sequence) const {
  MutexLock lock(mutex_);
  if (sequence < 1) return LogEntry{1, video_.create_time, AcceptedEvent{}};
  const auto next = entries_.upper_bound(sequence);
  if (next == entries_.end()) return std::nullopt;
  return next->second;
}

int LoggedJob::attempt() const {
  MutexLock lock(mutex_);
  return video_.attempt;
}

int64_t LoggedJob::media_size() const {
  MutexLock lock(mutex_);
  return media_size_;
}

absl::StatusOr<MediaPiece> LoggedJob::ReadMedia(int64_t offset, int64_t max_bytes) const {
  MediaPiece piece;
  piece.offset = offset;
  int64_t end = 0;
  std::shared_ptr<const MediaReader> reader;
  std::optional<MediaSeal> seal;
  std::string id;
  bool success = false;
  {
    MutexLock lock(mutex_);
    piece.attempt = video_.attempt;
    success = video_.state == VideoState::kSucceeded;
    // Of a failure the status is what counts: there is no file to be past the end of.
    if (offset < 0 || (success && offset > media_size_)) return OffsetPastEnd(offset, media_size_);
    if (offset >= media_size_) return piece;
    const auto fragment = std::upper_bound(fragment_ends_.begin(), fragment_ends_.end(), offset);
    end = std::min(offset + std::max<int64_t>(max_bytes, 0), media_size_);
    if (fragment != fragment_ends_.end()) {
      end = std::min(end, *fragment);
      piece.fragment_end = end == *fragment;
    }
    if (reader_attempt_ == video_.attempt) reader = reader_;
    if (success && reader == nullptr) seal = MediaSeal{media_size_, block_sums_};
    id = video_.id;
  }
  if (reader == nullptr) {
    auto opened = media_.Open(id, piece.attempt, std::move(seal));
    if (!opened.ok() && !success) {
      // Of an attempt that has failed the file goes before its end is told: nothing more to read.
      piece.fragment_end = false;
      return piece;
    }
    if (!opened.ok()) return WhyUnread(id, opened.status());
    reader = *std::move(opened);
    MutexLock lock(mutex_);
    reader_ = reader;
    reader_attempt_ = piece.attempt;
  }
  absl::StatusOr<std::string> bytes = reader->Read(offset, end - offset);
  if (!bytes.ok()) return OfVideo(id, bytes.status());
  piece.bytes = *std::move(bytes);
  if (static_cast<int64_t>(piece.bytes.size()) < end - offset) {
    if (!success) {
      // Of an attempt that has failed, as above: a full disk has its room back at once.
      piece.bytes.clear();
      piece.fragment_end = false;
      return piece;
    }
    return OfVideo(
        id, MakeError(Reason::kMediaCorrupt, "The stored file is damaged: it has become shorter"));
  }
  return piece;
}

// A missing file is no damage when somebody has removed the video.
absl::Status LoggedJob::WhyUnread(const std::string& id, const absl::Status& error) const {
  {
    MutexLock lock(mutex_);
    if (!removed_.ok()) return removed_;
  }
  return OfVideo(id, error);
}

void LoggedJob::MarkRemoved(absl::Status why) {
  MutexLock lock(mutex_);
  removed_ = std::move(why);
}

void LoggedJob::Edit(absl::FunctionRef<void(Video&)> change) {
  MutexLock lock(mutex_);
  change(video_);
}

void LoggedJob::Drop(uint64_t& sequence) {
  if (sequence != 0) entries_.erase(sequence);
  sequence = 0;
}

void LoggedJob::AddProgress(absl::Time now, Progress progress, bool keep) {
  {
    MutexLock lock(mutex_);
    progress.fraction = std::clamp(progress.fraction, video_.progress.fraction, 1.0);
    progress.remaining = std::max(progress.remaining, absl::ZeroDuration());
    video_.progress = progress;
    Drop(replaceable_);
    const uint64_t sequence = next_++;
    entries_[sequence] = {sequence, now, ProgressEvent{progress}};
    replaceable_ = keep ? 0 : sequence;
  }
  listeners_.Wake();
}

void LoggedJob::AddPreview(absl::Time now, PreviewEvent preview) {
  {
    MutexLock lock(mutex_);
    Drop(preview_);
    preview_ = next_++;
    entries_[preview_] = {preview_, now, std::move(preview)};
  }
  listeners_.Wake();
}

void LoggedJob::GrowMedia(int attempt, int64_t size, bool fragment_end) {
  {
    MutexLock lock(mutex_);
    if (attempt != video_.attempt || IsFinal(video_.state)) return;
    media_size_ = size;
    if (fragment_end) fragment_ends_.push_back(size);
  }
  listeners_.Wake();
}

uint64_t LoggedJob::TakeSequence() {
  MutexLock lock(mutex_);
  return next_++;
}

void LoggedJob::AddRestartEntry(const RestartRow& restart) {
  entries_[restart.sequence] = {restart.sequence, restart.time,
                                RestartedEvent{restart.reason, restart.attempt}};
}

void LoggedJob::AddRestart(const RestartRow& restart, absl::FunctionRef<void(Video&)> change) {
  {
    MutexLock lock(mutex_);
    Drop(replaceable_);
    Drop(preview_);
    media_size_ = 0;
    fragment_ends_.clear();
    change(video_);
    AddRestartEntry(restart);
  }
  listeners_.Wake();
}

void LoggedJob::End(Video video, uint64_t sequence) {
  {
    MutexLock lock(mutex_);
    video_ = std::move(video);
    Drop(preview_);
    if (video_.state == VideoState::kSucceeded) {
      entries_[sequence] = {sequence, video_.end_time, FinishedEvent{}};
    } else {
      media_size_ = 0;
      fragment_ends_.clear();
      reader_.reset();
    }
  }
  listeners_.Wake();
}

std::vector<int64_t> LoggedJob::fragment_ends() const {
  MutexLock lock(mutex_);
  return fragment_ends_;
}

int LoggedJob::queue_position() const {
  MutexLock lock(mutex_);
  return video_.progress.queue_position;
}

}  // namespace reel::front
