// SPDX-License-Identifier: Apache-2.0
#include "model/conditions/condition_tokens.h"

#include <algorithm>
#include <utility>

#include "model/bridge/random.h"

namespace reel::model {
namespace {

// Latents of a later clip that become tokens of their own. The first of them stands for one frame
// only, as at the beginning of a clip, and does not fit into the middle of another.
constexpr int64_t kPrefixLatents = 2;

}  // namespace

at::Tensor DrawNoise(const LatentShape& shape, int64_t channels, at::Generator& generator,
                     at::Device device) {
  return DrawNormal({1, channels, shape.frames, shape.height, shape.width}, generator,
                    at::TensorOptions(device).dtype(at::kFloat));
}

ClipTokens TokensBehindPicture(const at::Tensor& latent, const at::Tensor& noise) {
  at::Tensor mask =
      at::zeros({1, 1, noise.size(2), noise.size(3), noise.size(4)}, latent.options());
  mask.slice(2, 0, 1).fill_(1.0);
  ClipTokens tokens;
  tokens.x = PackLatents(latent * mask + noise * (1 - mask));
  tokens.mask = PackLatents(mask).squeeze(-1);
  return tokens;
}

ConditionTokens::ConditionTokens(const LatentShape& shape, at::Tensor noise, ClipPlaces places)
    : shape_(shape),
      places_(std::move(places)),
      grid_(std::move(noise)),
      frame_mask_(at::zeros({shape.frames}, grid_.options())) {}

void ConditionTokens::Add(const EncodedCondition& condition, at::Generator& generator) {
  has_conditions_ = true;
  at::Tensor latents = condition.latents;
  const int64_t count = latents.size(2);
  int64_t first = condition.first_latent;
  at::Tensor pinned = latents;
  if (condition.is_inside()) {
    first = condition.frame_index / places_.frames_per_latent + kPrefixLatents;
    pinned = latents.slice(2, std::min(count, kPrefixLatents));
    latents = latents.slice(2, 0, kPrefixLatents);
  }
  if (const int64_t frames = pinned.size(2); frames > 0) {
    at::Tensor place = grid_.slice(2, first, first + frames);
    place.copy_(at::lerp(place, pinned, condition.strength));
    frame_mask_.slice(0, first, first + frames).fill_(condition.strength);
  }
  if (condition.is_inside()) AddExtra(latents, condition, generator);
}

void ConditionTokens::AddExtra(const at::Tensor& latents, const EncodedCondition& condition,
                               at::Generator& generator) {
  const at::Tensor noise =
      DrawNormal(latents.sizes(), generator, latents.options().dtype(at::kFloat));
  const at::Tensor tokens = PackLatents(at::lerp(noise, latents, condition.strength));
  extra_mask_.push_back(at::full({1, tokens.size(1)}, condition.strength, tokens.options()));
  extra_coordinates_.push_back(
      places_.coordinates({latents.size(2), shape_.height, shape_.width}, condition.frame_index));
  extra_.push_back(tokens);
}

ClipTokens ConditionTokens::Finish() const {
  ClipTokens tokens;
  tokens.x = PackLatents(grid_);
  tokens.coordinates = places_.coordinates(shape_, 0);
  if (!has_conditions_) return tokens;
  tokens.mask = frame_mask_.repeat_interleave(shape_.height * shape_.width).unsqueeze(0);
  if (!extra_.empty()) {
    const auto front = [](std::vector<at::Tensor> parts, const at::Tensor& last, int64_t dim) {
      parts.push_back(last);
      return at::cat(parts, dim);
    };
    const int64_t video = tokens.x.size(1);
    tokens.x = front(extra_, tokens.x, 1);
    tokens.mask = front(extra_mask_, tokens.mask, 1);
    tokens.coordinates = front(extra_coordinates_, tokens.coordinates, 1);
    tokens.extra = tokens.x.size(1) - video;
  }
  tokens.initial = tokens.x.clone();
  return tokens;
}

}  // namespace reel::model
