// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/forwarding.h"

#include <algorithm>
#include <utility>

#include "kernels/base/status_macros.h"
#include "server/front/jobs/media_type.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Far more than a video's stages and restarts: a bound on what an owner can send.
constexpr size_t kMostEntries = 4096;

}  // namespace

VideoMirror::VideoMirror(int attempt, int64_t base, std::shared_ptr<Spool> spool,
                         std::weak_ptr<JobListener> woken)
    : spool_(std::move(spool)),
      woken_(std::move(woken)),
      state_{.attempt = attempt, .base = base, .size = base} {}

void VideoMirror::Wake() const {
  if (const auto woken = woken_.lock()) woken->Wake();
}

void VideoMirror::Restart(int attempt) {
  state_.attempt = attempt;
  // Offsets of another attempt's file mean nothing in this one's.
  state_.base = state_.size = 0;
  fragment_ends_.clear();
  // Readers of the previous file keep it open.
  file_.reset();
  state_.content_type.clear();
  entries_.erase(std::exchange(progress_at_, 0));
  entries_.erase(std::exchange(preview_at_, 0));
}

absl::Status VideoMirror::Keep(LogEntry entry) {
  if (entry.sequence <= last_sequence_) return absl::OkStatus();  // known already
  if (entries_.size() >= kMostEntries) {
    return absl::ResourceExhaustedError("The log of another server's video is too long");
  }
  last_sequence_ = entry.sequence;
  ++state_.heard;
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
    if (restarted->attempt > state_.attempt) Restart(restarted->attempt);
  }
  entries_[entry.sequence] = std::move(entry);
  return absl::OkStatus();
}

absl::Status VideoMirror::OnEntry(LogEntry entry) {
  {
    const MutexLock lock(mutex_);
    if (std::holds_alternative<AcceptedEvent>(entry.event)) return absl::OkStatus();
    if (std::holds_alternative<FinishedEvent>(entry.event)) {
      state_.complete = true;
      ++state_.heard;
    } else {
      REEL_RETURN_IF_ERROR(Keep(std::move(entry)));
    }
  }
  Wake();
  return absl::OkStatus();
}

absl::Status VideoMirror::Append(MediaPiece piece) {
  if (piece.attempt < state_.attempt) return absl::OkStatus();  // of an earlier attempt
  if (piece.attempt > state_.attempt) Restart(piece.attempt);
  const auto bytes = static_cast<int64_t>(piece.bytes.size());
  if (piece.offset > state_.size) return absl::DataLossError("Another server's stream has a hole");
  const int64_t known = state_.size - piece.offset;
  if (known >= bytes) return absl::OkStatus();
  if (file_ == nullptr) {
    REEL_ASSIGN_OR_RETURN(file_, spool_->NewFile());
  }
  REEL_RETURN_IF_ERROR(
      file_->Append(std::string_view(piece.bytes).substr(static_cast<size_t>(known))));
  if (state_.content_type.empty()) {
    state_.content_type = MediaTypeOfBytes(piece.offset == 0 ? piece.bytes : std::string());
  }
  state_.size = piece.offset + bytes;
  ++state_.heard;
  if (piece.fragment_end) fragment_ends_.push_back(state_.size);
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
  state_.ended = status;
}

std::optional<LogEntry> VideoMirror::NextEntry(uint64_t sequence) const {
  const MutexLock lock(mutex_);
  const auto next = entries_.upper_bound(sequence);
  if (next == entries_.end()) return std::nullopt;
  return next->second;
}

absl::StatusOr<MediaPiece> VideoMirror::Read(int64_t offset, int64_t max_bytes) const {
  MediaPiece piece;
  piece.offset = offset;
  int64_t end = 0, from = 0;  // offsets in the video's file and in the spool file
  std::shared_ptr<SpoolFile> file;
  {
    const MutexLock lock(mutex_);
    piece.attempt = state_.attempt;
    if (offset >= state_.size || offset < state_.base) return piece;
    from = offset - state_.base;
    end = std::min(offset + std::max<int64_t>(max_bytes, 0), state_.size);
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

VideoMirror::State VideoMirror::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

std::optional<Progress> VideoMirror::progress() const {
  const MutexLock lock(mutex_);
  const auto latest = entries_.find(progress_at_);
  if (latest == entries_.end()) return std::nullopt;
  return std::get<ProgressEvent>(latest->second.event).progress;
}

void VideoMirror::Resume(PeerAsk& ask) {
  const MutexLock lock(mutex_);
  ask.after_sequence = last_sequence_;
  ask.attempt = state_.attempt;
  ask.media_offset = state_.size;
  state_.ended.reset();
}

namespace {

constexpr absl::Duration kFirstWait = absl::Milliseconds(100);
constexpr absl::Duration kLongestWaitForOwner = absl::Seconds(2);
// For an owner that only has to send. One that renders is waited for until it is replaced.
constexpr absl::Duration kPatience = absl::Seconds(10);

}  // namespace

Forwarding::Forwarding(Peers peers, std::string tenant, std::string id,
                       std::weak_ptr<JobListener> woken)
    : peers_(std::move(peers)),
      tenant_(std::move(tenant)),
      id_(std::move(id)),
      woken_(std::move(woken)),
      wait_(kFirstWait) {}

void Forwarding::Follow(std::optional<PeerTarget> target) {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  const bool same = target && target_ && target->IsSameClaim(*target_);
  const bool had_owner = target_.has_value();
  // The owner may have rendered for long without sending.
  if (same && target->finished && !target_->finished) heard_at_.reset();
  target_ = std::move(target);
  if (same) return;
  Forget();
  // Offsets of the previous owner's file mean nothing in this one's.
  if (had_owner && wanted_) wanted_ = 0;
  if (target_ && wanted_) Open();
}

void Forwarding::Forget() {
  stream_.reset();
  mirror_.reset();
  given_up_ = told_ = false;
  heard_ = opened_with_ = 0;
  heard_at_.reset();
  retry_at_.reset();
  wait_ = kFirstWait;
}

void Forwarding::WantLog() {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  if (wanted_) return;
  wanted_ = 0;
  if (target_) Open();
}

void Forwarding::Want(int64_t offset) {
  if (peers_.port == nullptr) return;
  const MutexLock lock(mutex_);
  offset = std::max<int64_t>(offset, 0);
  const bool is_new = !wanted_;
  wanted_ = std::min(offset, wanted_.value_or(offset));
  if (!target_ || given_up_) return;
  if (mirror_ != nullptr && offset < mirror_->state().base) {
    Forget();
    return Open();
  }
  if (is_new) Open();
}

void Forwarding::Open() {
  if (mirror_ == nullptr) {
    mirror_ = std::make_shared<VideoMirror>(target_->attempt, *wanted_, peers_.spool, woken_);
  }
  PeerAsk ask{target_->address, tenant_, id_};
  mirror_->Resume(ask);
  opened_with_ = mirror_->state().heard;
  stream_ = peers_.port->Open(ask, mirror_);
}

bool Forwarding::GivesUp(absl::Duration now) const {
  if (!target_->finished || given_up_) return false;
  const auto ended = mirror_->state().ended;
  return now - *heard_at_ > kPatience || (ended && absl::IsDataLoss(*ended));
}

void Forwarding::TellLog(const char* what) const {
  Log(LogLevel::kWarning, what,
      {{"video", id_},
       {"node", target_->node},
       {"address", target_->address},
       {"error", mirror_->state().ended.value_or(absl::DeadlineExceededError("it says nothing"))}});
}

void Forwarding::Retry(absl::Duration now) {
  if (!retry_at_) {
    stream_.reset();
    // An owner that sent something is asked again soon.
    if (mirror_->state().heard > opened_with_) wait_ = kFirstWait;
    if (wait_ == kLongestWaitForOwner && !std::exchange(told_, true)) {
      TellLog("Another server does not send a video; it is asked again and again");
    }
    retry_at_ = now + wait_;
    wait_ = std::min(2 * wait_, kLongestWaitForOwner);
  }
  if (now < *retry_at_) return;
  retry_at_.reset();
  Open();
}

bool Forwarding::Tick(absl::Duration now) {
  const MutexLock lock(mutex_);
  if (mirror_ == nullptr || mirror_->state().complete) return false;
  const int64_t heard = mirror_->state().heard;
  if (heard > heard_ || !heard_at_) {
    heard_ = heard;
    heard_at_ = now;
  }
  if (GivesUp(now)) {
    TellLog(
        "Another server does not send a finished video's file; its readers are told where it is");
    return given_up_ = true;
  }
  if (mirror_->state().ended) Retry(now);
  return false;
}

std::shared_ptr<const VideoMirror> Forwarding::mirror() const {
  const MutexLock lock(mutex_);
  return mirror_;
}

bool Forwarding::given_up() const {
  const MutexLock lock(mutex_);
  return given_up_;
}

}  // namespace reel::front
