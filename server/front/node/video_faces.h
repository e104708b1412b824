// SPDX-License-Identifier: Apache-2.0
// Keeps one up-to-date FleetVideo for each video that somebody reads or watches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/front/fleet/fleet_view.h"
#include "server/front/node/fleet_video.h"
#include "server/front/node/object_keys.h"

namespace reel::front {

// Confined to the node's thread.
class VideoFaces {
 public:
  using Key = FleetState::Key;
  // Arguments outlive it.
  VideoFaces(FleetView& view, const LoggedVideos& logged, Onlooker onlooker, const Clock& clock)
      : view_(view), logged_(logged), onlooker_(std::move(onlooker)), clock_(clock) {}

  // Null if the view does not have the video or cannot decode it.
  std::shared_ptr<FleetVideo> Find(const Key& key) { return FindIn(faces_, onlooker_, key); }
  // As another node sees the video: only what this node has.
  std::shared_ptr<FleetVideo> FindForPeer(const Key& key) {
    return FindIn(for_peers_, {onlooker_.node, {}}, key);
  }
  // A FleetVideo for one reader of a file on this node. It keeps reading the file that it opened,
  // even if the video is deleted. Null as above.
  std::shared_ptr<FleetVideo> MakeReader(const Key& key) const {
    return Make({onlooker_.node, {}}, key);
  }
  // Keeps the copied file for a while, since its reader may come back for more.
  void Keep(const Key& key, std::shared_ptr<FleetVideo> face);
  // Called on every tick.
  void Tick(absl::Duration now);
  // The view may have changed.
  void Update(const Key& key, const FleetJob& job);
  // Sets this node's own job for the video; null once it no longer runs here.
  void SetLocal(const Key& key, std::shared_ptr<Job> local);
  bool RunsHere(const Key& key) const { return locals_.contains(key); }
  // The video has ended and its file is here.
  void SetStored(const Key& key, std::shared_ptr<Job> local) {
    SetLocal(key, std::move(local));
    Ended(key);
  }
  // The video has ended here. Its readers keep the job.
  void Ended(const Key& key) { locals_.erase(key); }
  // Drops those that nobody uses any more.
  void Prune();

  absl::StatusOr<Video> Read(const Key& key, const FleetJob& job) const;
  // Whether anybody may use one of them, or this one.
  bool any() const { return !faces_.empty() || !for_peers_.empty(); }
  bool Has(const Key& key) const { return faces_.contains(key) || for_peers_.contains(key); }
  // The video as its FleetVideo would show it, whether or not there is one. nullopt if it cannot be
  // decoded.
  std::optional<Video> Snapshot(const Key& key, const FleetJob& job);
  std::string Write(const Key& key, const Video& video) const { return logged_.Write(key, video); }

 private:
  using Faces = std::map<Key, std::weak_ptr<FleetVideo>>;
  std::shared_ptr<FleetVideo> Make(const Onlooker& onlooker, const Key& key) const;
  std::shared_ptr<FleetVideo> FindIn(Faces& faces, const Onlooker& onlooker, const Key& key);

  FleetView& view_;
  const LoggedVideos logged_;
  const Onlooker onlooker_;
  const Clock& clock_;
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
