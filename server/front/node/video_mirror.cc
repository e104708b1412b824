// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/video_mirror.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/jobs/media_type.h"

namespace reel::front {
namespace {

// Stages are a few, restarts too: an owner that sends more is none of ours.
constexpr size_t kMostEntries = 4096;

}  // namespace

VideoMirror::VideoMirror(int attempt, int64_t base, std::shared_ptr<Spool> spool,
                         std::weak_ptr<JobListener> woken)
    : spool_(std::move(spool)),
      woken_(std::move(woken)),
      attempt_(attempt),
      base_(base),
      size_(base) {}

void VideoMirror::Wake() const {
  if (const auto woken = woken_.lock()) woken->Wake();
}

void VideoMirror::Restart(int attempt) {
  attempt_ = attempt;
  // Places in the file of another attempt say nothing of this one's.
  base_ = size_ = 0;
  fragment_ends_.clear();
  // Who reads the one before still has it.
  file_.reset();
  content_type_.clear();
  entries_.erase(std::exchange(progress_at_, 0));
  entries_.erase(std::exchange(preview_at_, 0));
}

absl::Status VideoMirror::Keep(LogEntry entry) {
  if (entry.sequence <= last_sequence_) return absl::OkStatus();  // told before
  if (entries_.size() >= kMostEntries) {
    return absl::ResourceExhaustedError("The log of another server's video is too long");
  }
  last_sequence_ = entry.sequence;
  ++heard_;
  if (const auto* progress = std::get_if<ProgressEvent>(&entry.event)) {
    const auto before = entries_.find(progress_at_);
    const bool same_stage =
        before != entries_.end() &&
        std::get<ProgressEvent>(before->second.event).progress.stage == progress->progress.stage;
    if (same_stage) entries_.erase(before);
    progress_at_ = entry.sequence;
  } else if (std::holds_alternative<PreviewEvent>(entry.event)) {
    entries_.erase(std::exchange(preview_at_, entry.sequence));
  } else if (const auto* restarted = std::get_if<RestartedEvent>(&entry.event)) {
    if (restarted->attempt > attempt_) Restart(restarted->attempt);
  }
  entries_[entry.sequence] = std::move(entry);
  return absl::OkStatus();
}

absl::Status VideoMirror::OnEntry(LogEntry entry) {
  {
    const MutexLock lock(mutex_);
    if (std::holds_alternative<AcceptedEvent>(entry.event)) return absl::OkStatus();
    if (std::holds_alternative<FinishedEvent>(entry.event)) {
      complete_ = true;
      ++heard_;
    } else {
      REEL_RETURN_IF_ERROR(Keep(std::move(entry)));
    }
  }
  Wake();
  return absl::OkStatus();
}

absl::Status VideoMirror::Append(MediaPiece piece) {
  if (piece.attempt < attempt_) return absl::OkStatus();  // of one that was given up
  if (piece.attempt > attempt_) Restart(piece.attempt);
  const auto bytes = static_cast<int64_t>(piece.bytes.size());
  if (piece.offset > size_) return absl::DataLossError("Another server's stream has a hole");
  const int64_t known = size_ - piece.offset;
  if (known >= bytes) return absl::OkStatus();
  if (file_ == nullptr) {
    REEL_ASSIGN_OR_RETURN(file_, spool_->NewFile());
  }
  REEL_RETURN_IF_ERROR(
      file_->Append(std::string_view(piece.bytes).substr(static_cast<size_t>(known))));
  if (content_type_.empty()) {
    content_type_ = MediaTypeOfBytes(piece.offset == 0 ? piece.bytes : std::string());
  }
  size_ = piece.offset + bytes;
  ++heard_;
  if (piece.fragment_end) fragment_ends_.push_back(size_);
  return absl::OkStatus();
}

absl::Status VideoMirror::OnMedia(MediaPiece piece) {
  {
    const MutexLock lock(mutex_);
    REEL_RETURN_IF_ERROR(Append(std::move(piece)));
  }
  Wake();
  return absl::OkStatus();
}

void VideoMirror::OnEnd(const absl::Status& status) {
  const MutexLock lock(mutex_);
  ended_ = status;
}

std::optional<LogEntry> VideoMirror::NextEntry(uint64_t sequence) const {
  const MutexLock lock(mutex_);
  const auto next = entries_.upper_bound(sequence);
  if (next == entries_.end()) return std::nullopt;
  return next->second;
}

int VideoMirror::attempt() const {
  const MutexLock lock(mutex_);
  return attempt_;
}

int64_t VideoMirror::media_size() const {
  const MutexLock lock(mutex_);
  return size_;
}

absl::StatusOr<MediaPiece> VideoMirror::Read(int64_t offset, int64_t max_bytes) const {
  MediaPiece piece;
  piece.offset = offset;
  int64_t end = 0, from = 0;  // in the video's file, in the spool's
  std::shared_ptr<SpoolFile> file;
  {
    const MutexLock lock(mutex_);
    piece.attempt = attempt_;
    if (offset >= size_ || offset < base_) return piece;
    from = offset - base_;
    end = std::min(offset + std::max<int64_t>(max_bytes, 0), size_);
    const auto fragment = std::upper_bound(fragment_ends_.begin(), fragment_ends_.end(), offset);
    if (fragment != fragment_ends_.end()) {
      end = std::min(end, *fragment);
      piece.fragment_end = end == *fragment;
    }
    file = file_;
  }
  REEL_ASSIGN_OR_RETURN(piece.bytes, file->Read(from, end - offset));
  return piece;
}

int64_t VideoMirror::base() const {
  const MutexLock lock(mutex_);
  return base_;
}

std::optional<Progress> VideoMirror::progress() const {
  const MutexLock lock(mutex_);
  const auto latest = entries_.find(progress_at_);
  if (latest == entries_.end()) return std::nullopt;
  return std::get<ProgressEvent>(latest->second.event).progress;
}

std::string VideoMirror::content_type() const {
  const MutexLock lock(mutex_);
  return content_type_;
}

bool VideoMirror::complete() const {
  const MutexLock lock(mutex_);
  return complete_;
}

std::optional<absl::Status> VideoMirror::ended() const {
  const MutexLock lock(mutex_);
  return ended_;
}

int64_t VideoMirror::heard() const {
  const MutexLock lock(mutex_);
  return heard_;
}

void VideoMirror::Resume(PeerAsk& ask) {
  const MutexLock lock(mutex_);
  ask.after_sequence = last_sequence_;
  ask.attempt = attempt_;
  ask.media_offset = size_;
  ended_.reset();
}

}  // namespace reel::front
