// SPDX-License-Identifier: Apache-2.0
// The videos that somebody looks at, one object each, kept up to date.
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
  // View and clock outlive it, and so does what `onlooker` has.
  VideoFaces(FleetView& view, const LoggedVideos& logged, Onlooker onlooker, const Clock& clock)
      : view_(view), logged_(logged), onlooker_(std::move(onlooker)), clock_(clock) {}

  // Null: the view does not have it, or it cannot be read.
  std::shared_ptr<FleetVideo> Find(const Key& key) { return FindIn(faces_, onlooker_, key); }
  // The same as another node sees it: what is here alone.
  std::shared_ptr<FleetVideo> FindForPeer(const Key& key) {
    return FindIn(for_peers_, {onlooker_.node, {}}, key);
  }
  // A face for one reader of a file that is here. Nobody else changes its way to the file, so it
  // reads on from what it has opened, also when the video is deleted. Null as above.
  std::shared_ptr<FleetVideo> MakeReader(const Key& key) const {
    return Make({onlooker_.node, {}}, key);
  }
  // Somebody reads its file, who may come back for more of it: what is copied of it stays a while.
  void Keep(const Key& key, std::shared_ptr<FleetVideo> face);
  // Time has passed.
  void Tick(absl::Duration now);
  // The view may have changed.
  void Update(const Key& key, const FleetJob& job);
  // It runs here; null: no longer.
  void SetLocal(const Key& key, std::shared_ptr<Job> local);
  bool RunsHere(const Key& key) const { return locals_.contains(key); }
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
  // Somebody may look at one of them, at this one.
  bool any() const { return !faces_.empty() || !for_peers_.empty(); }
  bool Has(const Key& key) const { return faces_.contains(key) || for_peers_.contains(key); }
  // As its face would tell it, also where nobody looks at it. Nothing: it cannot be read.
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
