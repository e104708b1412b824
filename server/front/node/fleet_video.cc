// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_video.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
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

FleetVideo::FleetVideo(const FleetJob& job, Video video) { Update(job, std::move(video)); }

void FleetVideo::Update(const FleetJob& job, Video video) {
  {
    MutexLock lock(mutex_);
    phase_ = job.phase;
    epoch_ = job.epoch;
    owner_ = job.owner;
    address_ = job.address;
    last_sequence_ = job.last_sequence;
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
  MutexLock lock(mutex_);
  if (phase_ == FleetPhase::kSucceeded) return Elsewhere();
  MediaPiece piece;
  piece.attempt = video_.attempt;
  piece.offset = offset;
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

void FleetVideo::WakeAll() {
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
