// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/work_shape.h"

#include <algorithm>
#include <cstdlib>

#include "model/held_stretch.h"
#include "model/own_sound.h"
#include "model/reference_clip.h"
#include "model/refinement.h"

namespace reel::front {

WorkShape ShapeOf(const model::GenerationSpec& resolved, const model::ModelCard& card,
                  const std::string& plan) {
  WorkShape shape;
  shape.model = card.name;
  shape.plan = plan;
  shape.passes = model::PassesOf(resolved, card);
  shape.frames = resolved.num_frames;
  const model::PassWork& last = shape.passes.back();
  shape.frame_pixels =
      int64_t{last.width} * last.height * model::DecodedFrames(resolved, card.temporal_multiple);
  shape.crf = resolved.encoding.crf.value_or(0);
  shape.weights = card.parameters > 0;
  if (resolved.preview.every_steps > 0) {
    shape.previews = shape.steps() / resolved.preview.every_steps;
  }
  shape.condition_pixels = model::NumPictures(resolved) * last.width * last.height;
  if (model::RefinedClipOf(resolved) != nullptr) {
    // All of its frames are encoded.
    const model::FileSize clip = model::RefinedClipSize(resolved, card);
    shape.condition_pixels = int64_t{clip.width} * clip.height * resolved.num_frames;
  }
  if (const auto scale = model::ReferenceScaleOf(resolved, card);
      scale && model::ReferenceClipOf(resolved) != nullptr) {
    const model::FileSize clip = model::ReferenceSize({last.width, last.height}, *scale);
    const int frames = model::ReferenceFrames(resolved.num_frames, *scale, card.temporal_multiple);
    // It is counted as a picture of the video's size already.
    shape.condition_pixels += int64_t{clip.width} * clip.height * frames - last.width * last.height;
  }
  shape.streamed_bytes = card.streamed_bytes;
  shape.encoded_pixels = model::ConditionWorkOf(resolved, card).pixels;
  shape.memory_formula = model::PeakMemoryOf(resolved, card);
  return shape;
}

int64_t WorkShape::tokens() const { return passes.empty() ? 0 : model::LargestOf(passes).tokens; }

int64_t WorkShape::rows() const {
  int64_t most = 0;
  for (const model::PassWork& pass : passes) most = std::max(most, pass.rows);
  return most;
}

const model::PassWork& WorkShape::PassWith(int64_t rows) const {
  return *std::min_element(passes.begin(), passes.end(), [rows](const auto& a, const auto& b) {
    return std::abs(a.rows - rows) < std::abs(b.rows - rows);
  });
}

int WorkShape::steps() const {
  int steps = 0;
  for (const model::PassWork& pass : passes) steps += pass.steps;
  return steps;
}

}  // namespace reel::front
