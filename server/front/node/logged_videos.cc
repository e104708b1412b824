// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/logged_videos.h"

#include "kernels/base/status_macros.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_backlog.h"

namespace reel::front {

absl::StatusOr<Video> LoggedVideos::Read(const Key& key, const std::string& bytes) const {
  if (!Seal::IsSealed(bytes)) return serializer_.Parse(bytes);
  REEL_ASSIGN_OR_RETURN(const std::string opened, seal_.Open(bytes, NameOf(key)));
  return serializer_.Parse(opened);
}

VideoFacts LoggedVideos::ReadFacts(const Key& key, const FleetJob& job) const {
  const absl::StatusOr<Video> video = Read(key, job.video);
  VideoFacts facts;
  facts.readable = video.ok();
  facts.locked = absl::IsFailedPrecondition(video.status());
  if (!video.ok()) return facts;
  facts.model = video->spec.model;
  facts.work = PixelStepsOf(video->spec);
  facts.create_time = video->create_time;
  facts.end_time = video->end_time;
  facts.expire_time = video->expire_time;
  if (video->spec.source) facts.source = IdOfName(video->spec.source->video);
  if (video->kept) {
    facts.state_bytes = video->kept->size_bytes;
    facts.state_expire_time = video->kept->expire_time;
  }
  if (video->stats) facts.device_seconds = video->stats->device_seconds;
  return facts;
}

}  // namespace reel::front
