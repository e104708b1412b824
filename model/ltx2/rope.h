// SPDX-License-Identifier: Apache-2.0
// Places of tokens in seconds and pixels, and the tables by which attention turns channels. Always
// fp32 and made on the host: in 16 bits a long clip's places would be seconds off. Cosines and
// sines are those of the few distinct places of each axis, not of each token.
#pragma once

#include <cstdint>

#include "model/bridge/aten.h"
#include "model/bridge/rope_table.h"
#include "model/latents/latents.h"
#include "model/ltx2/transformer_config.h"
#include "model/request_adapter.h"

namespace reel::model::ltx2 {

// Of an attention whose places have so many axes as the table is given.
struct RopeSettings {
  Rotation rotation;
  int64_t num_heads, head_dim;
  double theta;
  bool in_double;
};

// `fractions` [axes, S], of the model's base in each axis; one axis or three.
RopeTable MakeRopeTable(const at::Tensor& fractions, const RopeSettings& settings);

// The middle of each token in seconds, rows and columns of pixels, [3, S]; order frame, row,
// column. The first latent frame is one picture, the others are of eight.
at::Tensor VideoPlaces(const TransformerConfig& config, const LatentShape& shape,
                       double frame_rate);
// The same of a condition inside a video, whose first latent is as long as the others: it begins at
// the video's frame `first`. A picture is one frame long.
at::Tensor InsidePlaces(const TransformerConfig& config, const LatentShape& shape,
                        double frame_rate, int64_t first, bool is_picture);
// The same of a reference clip, as of a clip of its own that begins with the video. One of its
// frames behind the first is as long as `scale.frames` of the video, and its sides are
// `scale.sides` times as long.
at::Tensor ReferencePlaces(const TransformerConfig& config, const LatentShape& shape,
                           double frame_rate, const ReferenceScale& scale);
// The middle of each token in seconds, [1, A].
at::Tensor AudioPlaces(const TransformerConfig& config, int64_t latents);

// The tables of one stream: among its own tokens, and towards the other stream, by time alone.
struct StreamTables {
  RopeTable own, cross;

  StreamTables To(at::Device device) const { return {own.To(device), cross.To(device)}; }
};
// Of places [3, S], and [1, A].
StreamTables MakeVideoTables(const TransformerConfig& config, const at::Tensor& places);
StreamTables MakeAudioTables(const TransformerConfig& config, const at::Tensor& places);

}  // namespace reel::model::ltx2
