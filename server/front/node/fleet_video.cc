// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_video.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/jobs/adoption.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/node/video_index.h"

namespace reel::front {
namespace {

constexpr char kTakenOver[] = "NODE_CHANGED";

uint64_t FirstSequenceOf(uint32_t epoch) {
  return epoch < 2 ? 1 : (epoch - 1) * kSequencesPerEpoch;
}

}  // namespace

int AttemptOf(uint32_t epoch) {
  return epoch < 2 ? 1 : 1 + static_cast<int>(epoch - 1) * kAttemptsPerEpoch;
}

uint32_t EpochOf(int attempt) {
  return 1 + static_cast<uint32_t>((attempt - 1) / kAttemptsPerEpoch);
}

FleetVideo::FleetVideo(const FleetJob& job, Video video, Onlooker onlooker)
    : onlooker_(std::move(onlooker)),
      listeners_(std::make_shared<JobListeners>()),
      forwarding_(onlooker_.peers, video.tenant, video.id, listeners_) {
  Update(job, std::move(video));
}

void FleetVideo::Update(const FleetJob& job, Video video) {
  std::optional<PeerTarget> target;
  const double fraction = Fraction();
  {
    const MutexLock lock(mutex_);
    told_fraction_ = std::max(told_fraction_, fraction);
    phase_ = job.phase;
    epoch_ = job.begun;
    owner_ = job.owner;
    address_ = job.address;
    last_sequence_ = job.last_sequence;
    object_ = job.object;
    if (!HasEnded(job.phase)) {
      video.state = StateOf(job.phase);
      video.attempt = AttemptOf(job.begun);
    }
    video_ = std::move(video);
    target = Target();
  }
  forwarding_.Follow(std::move(target));
  listeners_->Wake();
}

void FleetVideo::SetLocal(std::shared_ptr<Job> local) {
  std::optional<PeerTarget> target;
  {
    const MutexLock lock(mutex_);
    if (local_ == local) return;
    local_ = local;
    target = Target();
  }
  forwarding_.Follow(std::move(target));
  if (local != nullptr) local->Listen(listeners_);
  listeners_->Wake();
}

void FleetVideo::Tick(absl::Duration now) {
  if (listened_.exchange(false)) forwarding_.WantLog();
  if (forwarding_.Tick(now)) listeners_->Wake();
}

std::optional<PeerTarget> FleetVideo::Target() const {
  // A stored result is read from the store, whichever node rendered it.
  const bool is_held =
      phase_ == FleetPhase::kClaimed || (phase_ == FleetPhase::kSucceeded && !IsStored());
  if (!is_held || local_ != nullptr || owner_ == onlooker_.node) return std::nullopt;
  return PeerTarget{owner_, address_, epoch_, AttemptOf(epoch_), phase_ == FleetPhase::kSucceeded};
}

std::shared_ptr<Job> FleetVideo::local() const {
  const MutexLock lock(mutex_);
  return local_;
}

Video FleetVideo::Snapshot() const {
  const Mirror mirror = forwarding_.mirror();
  std::shared_ptr<Job> own;
  Video video;
  double told = 0;
  {
    const MutexLock lock(mutex_);
    own = local_;
    video = video_;
    if (own == nullptr && phase_ != FleetPhase::kClaimed) return video;
    if (phase_ == FleetPhase::kClaimed) told = told_fraction_;
  }
  if (own != nullptr) {
    std::vector<std::string> continued_by = std::move(video.continued_by);
    video = own->Snapshot();
    video.continued_by = std::move(continued_by);
  } else if (mirror != nullptr) {
    video.attempt = std::max(video.attempt, mirror->state().attempt);
    video.media.content_type = mirror->state().content_type;
    if (const auto progress = mirror->progress()) video.progress = *progress;
  }
  video.progress.fraction = std::max(video.progress.fraction, told);
  return video;
}

double FleetVideo::Fraction() const {
  if (const auto own = local()) return own->Snapshot().progress.fraction;
  const Mirror mirror = forwarding_.mirror();
  const auto progress = mirror == nullptr ? std::nullopt : mirror->progress();
  return progress ? progress->fraction : 0;
}

VideoState FleetVideo::state() const {
  if (const auto own = local()) return own->state();
  const MutexLock lock(mutex_);
  return video_.state;
}

int FleetVideo::attempt() const {
  if (const auto own = local()) return own->attempt();
  const Mirror mirror = forwarding_.mirror();
  const MutexLock lock(mutex_);
  if (mirror == nullptr || phase_ != FleetPhase::kClaimed) return video_.attempt;
  return std::max(video_.attempt, mirror->state().attempt);
}

int64_t FleetVideo::media_size() const {
  if (const auto own = local()) return own->media_size();
  const Mirror mirror = forwarding_.mirror();
  const MutexLock lock(mutex_);
  if (phase_ == FleetPhase::kSucceeded) return video_.media.size_bytes;
  return mirror != nullptr && phase_ == FleetPhase::kClaimed ? mirror->state().size : 0;
}

std::optional<LogEntry> FleetVideo::OwnEntry(uint64_t sequence) const {
  if (sequence < 1) return LogEntry{1, video_.create_time, AcceptedEvent{}};
  const uint64_t first = FirstSequenceOf(epoch_);
  if (epoch_ > 1 && sequence < first) {
    return LogEntry{first, absl::Now(), RestartedEvent{kTakenOver, AttemptOf(epoch_)}};
  }
  return std::nullopt;
}

std::optional<LogEntry> FleetVideo::NextEntry(uint64_t sequence) const {
  const Mirror mirror = forwarding_.mirror();
  const bool has_more = mirror != nullptr && !mirror->state().complete && !forwarding_.given_up();
  std::shared_ptr<Job> own;
  double told = 0;
  std::optional<LogEntry> end;
  {
    const MutexLock lock(mutex_);
    if (auto entry = OwnEntry(sequence)) return entry;
    own = local_;
    told = told_fraction_;
    if (phase_ == FleetPhase::kSucceeded && !has_more && sequence < last_sequence_) {
      end = LogEntry{last_sequence_, video_.end_time, FinishedEvent{}};
    }
  }
  std::optional<LogEntry> entry;
  if (own != nullptr) {
    entry = own->NextEntry(sequence);
  } else {
    if (mirror != nullptr) entry = mirror->NextEntry(sequence);
    if (!entry) return end;
  }
  auto* const progress = entry ? std::get_if<ProgressEvent>(&entry->event) : nullptr;
  if (progress != nullptr) {
    progress->progress.fraction = std::max(progress->progress.fraction, told);
  }
  return entry;
}

absl::Status FleetVideo::Elsewhere() const {
  ErrorDetails details = AboutVideo(video_.id);
  details.metadata.insert({{"node", owner_}, {"address", address_}});
  return MakeError(Reason::kWrongReplica,
                   absl::StrCat("The file of the video lies on another server: videos/", video_.id,
                                ", ", owner_, ", ", address_),
                   details);
}

bool FleetVideo::IsStored() const { return !object_.empty() && onlooker_.fetches != nullptr; }

// Reads from the store. The size is known; parts that are not here yet are fetched.
absl::StatusOr<MediaPiece> FleetVideo::ReadStored(const StoredResult& result, MediaPiece piece,
                                                  int64_t max_bytes) const {
  if (piece.offset < 0 || piece.offset > result.size) {
    return OffsetPastEnd(piece.offset, result.size);
  }
  if (piece.offset == result.size) return piece;
  REEL_ASSIGN_OR_RETURN(
      const MediaFetches::Bytes part,
      onlooker_.fetches->Read(result, piece.offset,
                              [listeners = std::weak_ptr<JobListeners>(listeners_)] {
                                if (const auto alive = listeners.lock()) alive->Wake();
                              }));
  piece.pending = part == nullptr;
  const int64_t from = piece.offset % MediaFetches::kPartBytes;
  const int64_t of_part = std::min(MediaFetches::kPartBytes - from, result.size - piece.offset);
  const int64_t size = std::min(std::max<int64_t>(max_bytes, 0), of_part);
  // The log does not record where fragments end.
  piece.fragment_end = piece.offset + size == result.size;
  if (part != nullptr) {
    piece.bytes = part->substr(static_cast<size_t>(from), static_cast<size_t>(size));
  }
  return piece;
}

// Likewise from the owner.
absl::StatusOr<MediaPiece> FleetVideo::ReadFinished(const Mirror& mirror, int64_t offset,
                                                    int64_t max_bytes) const {
  if (onlooker_.peers.port == nullptr || owner_ == onlooker_.node) return Elsewhere();
  if (offset < 0 || offset > video_.media.size_bytes) {
    return OffsetPastEnd(offset, video_.media.size_bytes);
  }
  MediaPiece piece;
  piece.attempt = video_.attempt;
  piece.offset = offset;
  if (offset == video_.media.size_bytes) return piece;
  if (mirror != nullptr && mirror->state().attempt == video_.attempt &&
      offset < mirror->state().size) {
    return mirror->Read(offset, max_bytes);
  }
  const bool is_all = mirror != nullptr && mirror->state().complete;
  if (is_all || forwarding_.given_up()) return Elsewhere();
  piece.pending = true;
  return piece;
}

absl::StatusOr<MediaPiece> FleetVideo::ReadMedia(int64_t offset, int64_t max_bytes) const {
  if (const auto own = local()) return own->ReadMedia(offset, max_bytes);
  forwarding_.Want(offset);
  const Mirror mirror = forwarding_.mirror();
  MediaPiece piece;
  piece.offset = offset;
  StoredResult result;
  {
    const MutexLock lock(mutex_);
    piece.attempt = video_.attempt;
    if (phase_ != FleetPhase::kSucceeded) {
      const bool is_heard = mirror != nullptr && phase_ == FleetPhase::kClaimed;
      if (!is_heard || mirror->state().attempt < video_.attempt) return piece;
      return mirror->Read(offset, max_bytes);
    }
    if (!IsStored()) return ReadFinished(mirror, offset, max_bytes);
    result = {object_, video_.media.size_bytes};
  }
  return ReadStored(result, std::move(piece), max_bytes);
}

void FleetVideo::Listen(std::weak_ptr<JobListener> listener) {
  listeners_->Add(std::move(listener));
  listened_ = true;
}

}  // namespace reel::front
