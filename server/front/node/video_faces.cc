// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/video_faces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/node/video_index.h"

namespace reel::front {
namespace {

constexpr absl::Duration kKeepUntold = absl::Hours(1);
// Players read a file in pieces, with pauses.
constexpr absl::Duration kKeepCopy = absl::Seconds(30);
constexpr size_t kMostKept = 32;
constexpr int kMostContinuations = 100;

// Completes a video that was ended without a new record.
void EndUntold(FleetPhase phase, Video& video) {
  video.state = StateOf(phase);
  if (phase == FleetPhase::kCancelled) {
    video.error = MakeError(Reason::kCancelledByOwner, "The video was cancelled");
  } else if (phase == FleetPhase::kExpired) {
    video.error = MakeError(Reason::kDeadlinePassed, "The deadline passed before the video began");
  } else {
    video.error = MakeError(Reason::kInternal, "The end of the video could not be written");
  }
  video.expire_time = std::max(video.deadline, video.create_time) + kKeepUntold;
}

}  // namespace

absl::StatusOr<Video> VideoFaces::Read(const Key& key, const FleetJob& job) const {
  REEL_ASSIGN_OR_RETURN(Video video, logged_.Read(key, job.video));
  // The key decides the name, whatever the record says.
  video.tenant = key.first;
  video.id = key.second;
  if (HasEnded(job.phase) && !IsFinal(video.state)) EndUntold(job.phase, video);
  if (video.kept) {
    for (const std::string& id : view_.ContinuedBy(key, clock_.Wall(), kMostContinuations)) {
      video.continued_by.push_back("videos/" + id);
    }
  }
  return video;
}

std::shared_ptr<FleetVideo> VideoFaces::Make(const Onlooker& onlooker, const Key& key) const {
  const std::optional<FleetJob> job = view_.Find(key.first, key.second);
  if (!job) return nullptr;
  auto video = Read(key, *job);
  if (!video.ok()) return nullptr;
  return std::make_shared<FleetVideo>(*job, *std::move(video), onlooker);
}

std::shared_ptr<FleetVideo> VideoFaces::FindIn(Faces& faces, const Onlooker& onlooker,
                                               const Key& key) {
  const auto known = faces.find(key);
  if (known != faces.end()) {
    auto face = known->second.lock();
    if (face != nullptr && !face->given_up()) return face;
  }
  auto face = Make(onlooker, key);
  if (face == nullptr) return nullptr;
  const auto local = locals_.find(key);
  if (local != locals_.end()) face->SetLocal(local->second);
  faces[key] = face;
  return face;
}

std::optional<Video> VideoFaces::Snapshot(const Key& key, const FleetJob& job) {
  if (faces_.contains(key) || locals_.contains(key)) {
    const std::shared_ptr<FleetVideo> face = Find(key);
    if (face == nullptr) return std::nullopt;
    return face->Snapshot();
  }
  auto video = Read(key, job);
  if (!video.ok()) return std::nullopt;
  if (!HasEnded(job.phase)) {
    video->state = StateOf(job.phase);
    video->attempt = AttemptOf(job.begun);
  }
  return *std::move(video);
}

void VideoFaces::Update(const Key& key, const FleetJob& job) {
  for (Faces* const faces : {&faces_, &for_peers_}) {
    const auto known = faces->find(key);
    if (known == faces->end()) continue;
    const auto face = known->second.lock();
    if (face == nullptr) {
      faces->erase(known);
      continue;
    }
    auto video = Read(key, job);
    if (video.ok()) face->Update(job, *std::move(video));
  }
}

void VideoFaces::SetLocal(const Key& key, std::shared_ptr<Job> local) {
  if (local == nullptr) {
    locals_.erase(key);
  } else {
    locals_[key] = local;
  }
  for (Faces* const faces : {&faces_, &for_peers_}) {
    const auto known = faces->find(key);
    if (known == faces->end()) continue;
    if (const auto face = known->second.lock()) face->SetLocal(local);
  }
}

void VideoFaces::Keep(const Key& key, std::shared_ptr<FleetVideo> face) {
  kept_[key] = {std::move(face), now_};
  if (kept_.size() <= kMostKept) return;
  kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
    return a.second.since < b.second.since;
  }));
}

void VideoFaces::Tick(absl::Duration now) {
  now_ = now;
  std::erase_if(kept_, [&](const auto& entry) { return now - entry.second.since > kKeepCopy; });
  for (const auto& [key, known] : faces_) {
    if (const auto face = known.lock()) face->Tick(now);
  }
}

void VideoFaces::Prune() {
  for (Faces* const faces : {&faces_, &for_peers_}) {
    std::erase_if(*faces, [](const auto& entry) { return entry.second.expired(); });
  }
}

}  // namespace reel::front
