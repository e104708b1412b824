// SPDX-License-Identifier: Apache-2.0
// A video that has ended, with a bill.
#pragma once

#include "server/front/jobs/video.h"

namespace reel::front {

inline constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

// Three steps with waiting between them, of 2 s in all.
inline Video EndedVideo() {
  using model::RunPart;
  const auto ms = [](int count) { return absl::Milliseconds(count); };
  Video video;
  video.id = "local-a";
  video.tenant = "canary-tenant";
  video.state = VideoState::kSucceeded;
  video.create_time = absl::FromUnixSeconds(1'800'000'000);
  video.end_time = video.create_time + absl::Seconds(3);
  video.spec.prompt = "canary prompt";
  video.spec.model = "testcard";
  video.spec.width = 512;
  video.spec.height = 320;
  video.spec.num_frames = 25;
  video.spec.num_inference_steps = 3;
  video.labels = {{"canary", "canary"}};
  video.request_id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  video.trace_id = kTrace;
  model::RunStats& stats = video.stats.emplace();
  stats.total = absl::Seconds(2);
  stats.device_seconds = 1.5;
  stats.timed_steps = 1;
  stats.parts = {{RunPart::kQueue, ms(100)},   {RunPart::kHandover, ms(50)},
                 {RunPart::kText, ms(150)},    {RunPart::kWait, ms(200)},
                 {RunPart::kDenoise, ms(900)}, {RunPart::kDecode, ms(500)},
                 {RunPart::kFile, ms(100)}};
  stats.spans = {{RunPart::kQueue, ms(0), ms(100)},
                 {RunPart::kHandover, ms(100), ms(30)},
                 {RunPart::kText, ms(130), ms(150)},
                 {RunPart::kDenoise, ms(280), ms(300), 1, 1, false},
                 {RunPart::kDenoise, ms(680), ms(300), 2, 2, true},
                 {RunPart::kDenoise, ms(1080), ms(300), 3, 1, false},
                 {RunPart::kDecode, ms(1380), ms(500)},
                 {RunPart::kHandover, ms(1880), ms(20)},
                 {RunPart::kFile, ms(1900), ms(100)}};
  stats.operators = {{RunPart::kDenoise, "rms_norm", "sm90", 10, ms(1), ms(30)},
                     {RunPart::kDenoise, "gaps", "", 0, ms(1), ms(20)},
                     {RunPart::kDecode, "conv3d", "cudnn", 4, ms(9), ms(400)}};
  return video;
}

}  // namespace reel::front
