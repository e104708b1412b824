// SPDX-License-Identifier: Apache-2.0
// Videos as bytes of the fleet's log: as a server's store keeps them, sealed where the fleet has a
// key.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/seal.h"
#include "server/front/fleet/view_video.h"
#include "server/front/jobs/video_serializer.h"

namespace reel::front {

// Thread-safe.
class LoggedVideos final : public VideoReader {
 public:
  using Key = FleetState::Key;
  // Both outlive it.
  LoggedVideos(const VideoSerializer& serializer, const Seal& seal)
      : serializer_(serializer), seal_(seal) {}

  std::string Write(const Key& key, const Video& video) const {
    return seal_.Close(serializer_.Serialize(video), NameOf(key));
  }
  // FAILED_PRECONDITION: it is sealed with a key that is not here.
  absl::StatusOr<Video> Read(const Key& key, const std::string& bytes) const;
  VideoFacts ReadFacts(const Key& key, const FleetJob& job) const override;

 private:
  // One for all messages of a video: the end of an epoch may be written again under the next.
  static std::string NameOf(const Key& key) { return "video/" + key.first + "/" + key.second; }

  const VideoSerializer& serializer_;
  const Seal& seal_;
};

}  // namespace reel::front
