// SPDX-License-Identifier: Apache-2.0
// The videos that somebody looks at, one object each, kept up to date.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/node/fleet_video.h"

namespace reel::front {

// Confined to the node's thread.
class VideoFaces {
 public:
  using Key = FleetState::Key;
  // Both outlive it, and so does what `onlooker` has.
  VideoFaces(FleetView& view, const VideoSerializer& serializer, Onlooker onlooker)
      : view_(view), serializer_(serializer), onlooker_(std::move(onlooker)) {}

  // Null: the view does not have it, or it cannot be read.
  std::shared_ptr<FleetVideo> Find(const Key& key) { return FindIn(faces_, onlooker_, key); }
  // The same as another node sees it: what is here alone.
  std::shared_ptr<FleetVideo> FindForPeer(const Key& key) {
    return FindIn(for_peers_, {onlooker_.node, {}}, key);
  }
  // Somebody reads its file, who may come back for more of it: what is copied of it stays a while.
  void Keep(const Key& key, std::shared_ptr<FleetVideo> face);
  // Time has passed.
  void Tick(absl::Duration now);
  // The view may have changed.
  void Update(const Key& key, const FleetJob& job);
  // It runs here; null: no longer.
  void SetLocal(const Key& key, std::shared_ptr<Job> local);
  // It has ended, and its file is here.
  void SetStored(const Key& key, std::shared_ptr<Job> local) {
    SetLocal(key, std::move(local));
    Ended(key);
  }
  // It has ended here: who looks at it keeps what there was.
  void Ended(const Key& key) { locals_.erase(key); }
  // Forgets those that nobody looks at.
  void Prune();

  absl::StatusOr<Video> Read(const Key& key, const FleetJob& job) const;
  std::string Write(const Video& video) const { return serializer_.Serialize(video); }

 private:
  using Faces = std::map<Key, std::weak_ptr<FleetVideo>>;
  std::shared_ptr<FleetVideo> FindIn(Faces& faces, const Onlooker& onlooker, const Key& key);

  FleetView& view_;
  const VideoSerializer& serializer_;
  const Onlooker onlooker_;
  Faces faces_, for_peers_;
  struct Kept {
    std::shared_ptr<FleetVideo> face;
    absl::Duration since;
  };
  std::map<Key, Kept> kept_;
  absl::Duration now_;
  std::map<Key, std::shared_ptr<Job>> locals_;
};

}  // namespace reel::front
