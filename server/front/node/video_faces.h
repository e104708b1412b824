// SPDX-License-Identifier: Apache-2.0
// The videos that somebody looks at, one object each, kept up to date.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/node/fleet_video.h"

namespace reel::front {

// Confined to the node's thread.
class VideoFaces {
 public:
  using Key = FleetState::Key;
  // All outlive it; `fetches` may be missing.
  VideoFaces(FleetView& view, const VideoSerializer& serializer, MediaFetches* fetches)
      : view_(view), serializer_(serializer), fetches_(fetches) {}

  // Null: the view does not have it, or it cannot be read.
  std::shared_ptr<FleetVideo> Find(const Key& key);
  // The view may have changed.
  void Update(const Key& key, const FleetJob& job);
  // It runs here; null: no longer.
  void SetLocal(const Key& key, std::shared_ptr<Job> local);
  // It has ended here: who looks at it keeps what there was.
  void Ended(const Key& key) { locals_.erase(key); }
  // Forgets those that nobody looks at.
  void Prune();

  absl::StatusOr<Video> Read(const Key& key, const FleetJob& job) const;
  std::string Write(const Video& video) const { return serializer_.Serialize(video); }

 private:
  FleetView& view_;
  const VideoSerializer& serializer_;
  MediaFetches* const fetches_;
  std::map<Key, std::weak_ptr<FleetVideo>> faces_;
  std::map<Key, std::shared_ptr<Job>> locals_;
};

}  // namespace reel::front
