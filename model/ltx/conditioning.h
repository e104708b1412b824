// SPDX-License-Identifier: Apache-2.0
// The first tokens of a clip: noise, and what pictures and clips pin of it. The order of draws is
// the reference's.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "model/frames/condition_pictures.h"
#include "model/latents/latents.h"
#include "model/ltx/denoise_state.h"
#include "model/vae/vae_encoder.h"

namespace reel::model::ltx {

// An encoder with its statistics, borrowed for a call.
struct LatentEncoder {
  const VaeEncoder& encoder;
  const LatentStatistics& statistics;
  const VaeTiling& tiling;

  // A sample of the distribution, drawn from `generator`, not normalised.
  at::Tensor Sample(const Ops& ops, const at::Tensor& pixels, at::Generator& generator) const;
};

// [1, C, F, h, w] fp32.
at::Tensor DrawNoise(const LatentShape& shape, int64_t channels, at::Generator& generator,
                     at::Device device);

// Image pipeline: draws the image's sample, then the noise.
Tokens ImageTokens(const Ops& ops, const LatentEncoder& encoder, const PictureCondition& image,
                   int64_t channels, DenoiseState& state);

// Condition pipeline, in parts that are bounded each: noise, then one condition after the other,
// then the tokens.
class ConditionTokens {
 public:
  ConditionTokens(const LatentShape& shape, double frame_rate, at::Tensor noise);

  void Add(const Ops& ops, const LatentEncoder& encoder, const PictureCondition& condition,
           at::Generator& generator);
  Tokens Finish(bool has_conditions) const;

 private:
  void AddExtra(const at::Tensor& latents, const PictureCondition& condition,
                at::Generator& generator);

  const LatentShape shape_;
  const double frame_rate_;
  at::Tensor grid_;        // [1, C, F, h, w]
  at::Tensor frame_mask_;  // [F]
  std::vector<at::Tensor> extra_, extra_mask_, extra_coordinates_;
};

}  // namespace reel::model::ltx
