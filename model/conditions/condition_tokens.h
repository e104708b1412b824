// SPDX-License-Identifier: Apache-2.0
// The first tokens of a clip: noise, and what the latents of pictures and clips pin of it. The
// order of draws is that of diffusers' LTX-Video pipelines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/latents/latents.h"
#include "model/request_adapter.h"

namespace reel::model {

// The tokens that a network works on: those of conditions first, then the video's.
struct ClipTokens {
  at::Tensor x;            // [1, S, C] fp32
  at::Tensor mask;         // [1, S] fp32: 1 is pinned, 0 is free; undefined without conditions
  at::Tensor initial;      // [1, S, C], x before the first step; undefined without conditions
  at::Tensor coordinates;  // [3, S]
  int64_t extra = 0;       // tokens in front that are not part of the video
};

// [1, C, F, h, w] fp32.
at::Tensor DrawNoise(const LatentShape& shape, int64_t channels, at::Generator& generator,
                     at::Device device);

// Image pipeline: the first latent frame is the picture's, `latent` [1, C, 1, h, w], and stays.
ClipTokens TokensBehindPicture(const at::Tensor& latent, const at::Tensor& noise);

// A condition of a request, encoded.
struct EncodedCondition {
  at::Tensor latents;  // [1, C, f, h, w] fp32, normalised
  int64_t frame_index = 0;
  double strength = 1;
  bool is_picture = true;  // else a clip
  // Of latents that are the clip's own, not pictures', the latent frame that the first is held at.
  int64_t first_latent = 0;
  // Set for reference clips only, whose tokens are not part of the video.
  std::optional<ReferenceScale> reference = {};
  double attention_strength = 1;

  bool is_inside() const { return frame_index > 0; }
};

// How a family places latents in time and space.
struct ClipPlaces {
  int64_t frames_per_latent = 1;
  // [3, F h w]: the coordinates of latents whose first frame is the clip's `frame_index`.
  std::function<at::Tensor(const LatentShape& shape, int64_t frame_index)> coordinates;
};

// Condition pipeline: takes one condition after the other, then gives the tokens.
class ConditionTokens {
 public:
  // `noise` [1, C, F, h, w] fp32: what is not pinned.
  ConditionTokens(const LatentShape& shape, at::Tensor noise, ClipPlaces places);

  // Draws from `generator` for tokens that are not part of the video.
  void Add(const EncodedCondition& condition, at::Generator& generator);
  ClipTokens Finish() const;

 private:
  void AddExtra(const at::Tensor& latents, const EncodedCondition& condition,
                at::Generator& generator);

  const LatentShape shape_;
  const ClipPlaces places_;
  bool has_conditions_ = false;
  at::Tensor grid_;        // [1, C, F, h, w]
  at::Tensor frame_mask_;  // [F]
  std::vector<at::Tensor> extra_, extra_mask_, extra_coordinates_;
};

}  // namespace reel::model
