// SPDX-License-Identifier: Apache-2.0
#include "model/continued_spec.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
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

constexpr char kJoin[] = "source.extend.join";

// Both sides of a seam are encoded alike.
void FillEncoding(const GenerationSpec& video, GenerationSpec& request, ViolationList& out) {
  const EncodingOptions& theirs = video.encoding;
  EncodingOptions& own = request.encoding;
  std::string differs;
  if (own.crf && own.crf != theirs.crf) differs = "encoding.crf";
  if (own.speed != EncodingSpeed::kUnspecified && own.speed != theirs.speed) {
    differs = "encoding.speed";
  }
  if (own.codec != VideoCodec::kUnspecified && own.codec != theirs.codec) {
    differs = "encoding.codec";
  }
  if (!differs.empty()) {
    out.Add(kJoin, absl::StrCat("a joined file is encoded as its source is, and ", differs,
                                " is another; nearest: leave that out"));
  }
  own.crf = theirs.crf;
  own.speed = theirs.speed;
  own.codec = theirs.codec;
}

void FillJoin(const GenerationSpec& video, int file_frames, GenerationSpec& request,
              ViolationList& out) {
  Source::Extend& extend = request.source->extend;
  if (extend.source_frames != 0 && extend.source_frames != file_frames) {
    out.Add("source.extend.source_frames",
            absl::StrCat(extend.source_frames,
                         " is not that of the video's file; nearest: ", file_frames));
  }
  extend.source_frames = file_frames;
  if (video.sound && request.sound != video.sound) {
    out.Add(kJoin,
            "the video has sound and the request none, or the reverse; nearest: leave sound "
            "out");
  }
  if (video.normalise_loudness || request.normalise_loudness) {
    out.Add(kJoin,
            "what is made cannot be brought to one loudness with what is there; nearest: a "
            "video and a request without normalise_loudness");
  }
  FillEncoding(video, request, out);
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

std::vector<FieldViolation> FillContinued(const GenerationSpec& video, GenerationSpec& request,
                                          int file_frames) {
  ViolationList violations;
  if (video.stop_after_pass) {
    violations.Add("source.video", "is a draft; nearest: promote it, and go on from that");
    return violations.Take();
  }
  if (request.is_retake() && video.is_joined()) {
    violations.Add("source.video",
                   absl::StrCat("is joined to another, of which it keeps its last ",
                                video.source->extend.overlap_frames,
                                " frames; nearest: retake that one, and extend the retake"));
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
  if (request.is_joined()) {
    FillJoin(video, file_frames == 0 ? video.file_frames() : file_frames, request, violations);
  }
  FillValues(video, request);
  return violations.Take();
}

}  // namespace reel::model
