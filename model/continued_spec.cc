// SPDX-License-Identifier: Apache-2.0
#include "model/continued_spec.h"

#include <algorithm>

#include "model/spec_defaults.h"
#include "model/violation_list.h"

namespace reel::model {
namespace {

void FillOverlap(int frames, Source::Extend& extend, ViolationList& out) {
  if (extend.overlap_frames == 0) {
    extend.overlap_frames = std::min(kOverlapFrames, frames);
  }
  out.InRange("source.extend.overlap_frames", int64_t{extend.overlap_frames}, int64_t{1},
              int64_t{frames});
}

// What the video's last pass was made with.
void FillValues(const GenerationSpec& video, GenerationSpec& request) {
  if (!request.preset.empty() && request.preset != video.preset) return;
  request.preset = video.preset;
  GenerationSpec values = video;
  values.num_frames = 0;
  values.denoise_strength.reset();  // what is made starts from noise
  FillFrom(request, values);
}

}  // namespace

std::vector<FieldViolation> FillContinued(const GenerationSpec& video, GenerationSpec& request) {
  ViolationList violations;
  if (video.stop_after_pass) {
    violations.Add("source.video", "is a draft; nearest: promote it, and go on from that");
    return violations.Take();
  }
  if (request.model.empty()) request.model = video.model;
  if (request.prompt.empty()) request.prompt = video.prompt;
  if (!request.negative_prompt) request.negative_prompt = video.negative_prompt;
  if (request.adapters.empty()) request.adapters = video.adapters;
  if (!request.sound) request.sound = video.sound;
  request.width = video.width;
  request.height = video.height;
  request.frame_rate = video.frame_rate;
  if (request.is_retake()) request.num_frames = video.num_frames;
  if (request.is_extension()) FillOverlap(video.num_frames, request.source->extend, violations);
  FillValues(video, request);
  return violations.Take();
}

}  // namespace reel::model
