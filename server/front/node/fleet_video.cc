// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_video.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/node/video_index.h"

namespace reel::front {
namespace {

constexpr char kTakenOver[] = "NODE_CHANGED";

uint64_t FirstSequenceOf(uint32_t epoch) {
  return epoch < 2 ? 1 : (epoch - 1) * kSequencesPerEpoch;
}

absl::Status PastEnd(int64_t offset, int64_t size) {
  ErrorDetails details;
  details.metadata = {{"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}};
  return MakeError(Reason::kOffsetPastEnd, "The offset is past the end of the file", details);
}

}  // namespace

int AttemptOf(uint32_t epoch) {
  return epoch < 2 ? 1 : 1 + static_cast<int>(epoch - 1) * kAttemptsPerEpoch;
}

FleetVideo::FleetVideo(const FleetJob& job, Video video, MediaFetches* fetches)
    : fetches_(fetches) {
  Update(job, std::move(video));
}

void FleetVideo::Update(const FleetJob& job, Video video) {
  {
    MutexLock lock(mutex_);
    phase_ = job.phase;
    epoch_ = job.epoch;
    owner_ = job.owner;
    address_ = job.address;
    last_sequence_ = job.last_sequence;
    object_ = job.object;
    if (!HasEnded(job.phase)) {
      video.state = StateOf(job.phase);
      video.attempt = AttemptOf(job.epoch);
    }
    video_ = std::move(video);
  }
  WakeAll();
}

void FleetVideo::SetLocal(std::shared_ptr<Job> local) {
  std::vector<std::weak_ptr<JobListener>> listeners;
  {
    MutexLock lock(mutex_);
    if (local_ == local) return;
    local_ = local;
    listeners = listeners_;
  }
  if (local != nullptr) {
    for (const auto& listener : listeners) local->Listen(listener);
  }
  WakeAll();
}

std::shared_ptr<Job> FleetVideo::local() const {
  MutexLock lock(mutex_);
  return local_;
}

Video FleetVideo::Snapshot() const {
  if (const auto own = local()) return own->Snapshot();
  MutexLock lock(mutex_);
  return video_;
}

VideoState FleetVideo::state() const {
  if (const auto own = local()) return own->state();
  MutexLock lock(mutex_);
  return video_.state;
}

int FleetVideo::attempt() const {
  if (const auto own = local()) return own->attempt();
  MutexLock lock(mutex_);
  return video_.attempt;
}

int64_t FleetVideo::media_size() const {
  if (const auto own = local()) return own->media_size();
  MutexLock lock(mutex_);
  return phase_ == FleetPhase::kSucceeded ? video_.media.size_bytes : 0;
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
  std::shared_ptr<Job> own;
  {
    MutexLock lock(mutex_);
    if (auto entry = OwnEntry(sequence)) return entry;
    own = local_;
    if (own == nullptr) {
      if (phase_ != FleetPhase::kSucceeded || sequence >= last_sequence_) return std::nullopt;
      return LogEntry{last_sequence_, video_.end_time, FinishedEvent{}};
    }
  }
  return own->NextEntry(sequence);
}

absl::Status FleetVideo::Elsewhere() const {
  const std::string name = absl::StrCat("videos/", video_.id);
  ErrorDetails details;
  details.metadata = {{"video", name}, {"node", owner_}, {"address", address_}};
  details.resource_type = "video";
  details.resource_name = name;
  return MakeError(Reason::kWrongReplica,
                   absl::StrCat("The file of the video lies on another server: ", name, ", ",
                                owner_, ", ", address_),
                   details);
}

absl::StatusOr<MediaPiece> FleetVideo::ReadMedia(int64_t offset, int64_t max_bytes) const {
  if (const auto own = local()) return own->ReadMedia(offset, max_bytes);
  MediaPiece piece;
  piece.offset = offset;
  StoredResult result;
  {
    MutexLock lock(mutex_);
    piece.attempt = video_.attempt;
    if (phase_ != FleetPhase::kSucceeded) return piece;
    if (object_.empty() || fetches_ == nullptr) return Elsewhere();
    result = {object_, video_.media.size_bytes};
  }
  if (offset < 0 || offset > result.size) return PastEnd(offset, result.size);
  if (offset == result.size) return piece;
  return ReadStored(result, std::move(piece), max_bytes);
}

absl::StatusOr<MediaPiece> FleetVideo::ReadStored(const StoredResult& result, MediaPiece piece,
                                                  int64_t max_bytes) const {
  REEL_ASSIGN_OR_RETURN(const MediaFetches::Bytes part,
                        fetches_->Read(result, piece.offset, [weak = weak_from_this()] {
                          if (const auto self = weak.lock()) self->WakeAll();
                        }));
  piece.pending = part == nullptr;
  const int64_t from = piece.offset % MediaFetches::kPartBytes;
  const int64_t of_part = std::min(MediaFetches::kPartBytes - from, result.size - piece.offset);
  const int64_t size = std::min(std::max<int64_t>(max_bytes, 0), of_part);
  // Where its fragments end the log does not say.
  piece.fragment_end = piece.offset + size == result.size;
  if (part != nullptr) {
    piece.bytes = part->substr(static_cast<size_t>(from), static_cast<size_t>(size));
  }
  return piece;
}

void FleetVideo::Listen(std::weak_ptr<JobListener> listener) {
  std::shared_ptr<Job> own;
  {
    MutexLock lock(mutex_);
    std::erase_if(listeners_, [](const auto& known) { return known.expired(); });
    listeners_.push_back(listener);
    own = local_;
  }
  if (own != nullptr) own->Listen(std::move(listener));
}

void FleetVideo::WakeAll() const {
  std::vector<std::shared_ptr<JobListener>> woken;
  {
    MutexLock lock(mutex_);
    for (const auto& listener : listeners_) {
      if (auto alive = listener.lock()) woken.push_back(std::move(alive));
    }
  }
  for (const auto& listener : woken) listener->Wake();
}

}  // namespace reel::front
