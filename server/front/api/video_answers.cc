// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_answers.h"

#include <utility>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"
#include "server/front/api/page_token.h"
#include "server/front/api/video_convert.h"

namespace reel::front {
namespace {

// Below the largest message that is sent, 1 MiB and a bit.
constexpr size_t kMaxPageBytes = 1 << 20;
constexpr size_t kEntryBytes = 8;  // a tag and a length

}  // namespace

void FileToProto(const UploadedFile& file, v1::UploadedFile& proto) {
  proto.set_name(file.name);
  proto.set_size_bytes(file.size_bytes);
  proto.set_content_type(file.content_type);
  *proto.mutable_expire_time() = TimeToProto(file.expire_time);
}

void EstimateToProto(const CostEstimate& estimate, v1::EstimateVideoResponse& proto) {
  *proto.mutable_spec() = SpecToProto(estimate.spec);
  SetProtoDuration(*proto.mutable_queue(), estimate.queue);
  SetProtoDuration(*proto.mutable_run_p50(), estimate.run_p50);
  SetProtoDuration(*proto.mutable_run_p90(), estimate.run_p90);
  proto.set_peak_memory_bytes(estimate.peak_memory_bytes);
  proto.set_device_seconds(estimate.device_seconds);
  proto.set_admissible(estimate.refusal.ok());
  if (!estimate.refusal.ok()) {
    proto.mutable_refusal()->ParseFromString(SerializeError(estimate.refusal));
  }
  proto.set_queue_position(estimate.queue_position);
  proto.set_latent_tokens(static_cast<int32_t>(estimate.latent_tokens));
  if (estimate.model_load > absl::ZeroDuration()) {
    SetProtoDuration(*proto.mutable_model_load(), estimate.model_load);
  }
  for (const CostEstimate::OnDevice& device : estimate.devices) {
    v1::DeviceEstimate& added = *proto.add_devices();
    added.set_device(device.device);
    SetProtoDuration(*added.mutable_run_p50(), device.run_p50);
    SetProtoDuration(*added.mutable_run_p90(), device.run_p90);
    added.set_observed(device.observed);
  }
}

void CreatedToProto(const std::vector<Video>& videos, int asked, v1::CreateVideoResponse& proto) {
  *proto.mutable_video() = VideoToProto(videos.front());
  if (asked == 0) return;
  for (const Video& video : videos) *proto.add_videos() = VideoToProto(video);
}

void ValidatedToProto(const Video& first, int asked, v1::CreateVideoResponse& proto) {
  std::vector<Video> videos = {first};
  for (int place = 1; place < asked; ++place) {
    videos.push_back(first);
    videos.back().spec.seed = SeedAt(first.spec.seed.value_or(0), place);
  }
  CreatedToProto(videos, asked, proto);
}

void PageToProto(const ListPage& page, const std::vector<VideoState>& filter,
                 v1::ListVideosResponse& proto) {
  size_t bytes = 0;
  size_t shown = 0;
  for (const Video& video : page.videos) {
    v1::Video listed = VideoToListProto(video);
    bytes += listed.ByteSizeLong() + kEntryBytes;
    if (shown > 0 && bytes > kMaxPageBytes) break;
    *proto.add_videos() = std::move(listed);
    ++shown;
  }
  if (shown == 0 || (shown == page.videos.size() && !page.more)) return;
  const Video& last = page.videos[shown - 1];
  proto.set_next_page_token(MakePageToken({last.create_time, last.id}, filter));
}

}  // namespace reel::front
