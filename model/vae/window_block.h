// SPDX-License-Identifier: Apache-2.0
// The transformer block of the diffusion decoder: attention in windows and a gated MLP, each behind
// a norm and added. Rows are frames [f, h, w, C].
#pragma once

#include <cstdint>
#include <string>

#include "model/bridge/ops.h"
#include "model/layers/linear.h"
#include "model/vae/diffusion_decoder_config.h"

namespace reel::model {

// Frames [1, C, f, h, w] as rows [f, h, w, C], and back; views.
at::Tensor RowsOfFrames(const at::Tensor& frames);
at::Tensor FramesOfRows(const at::Tensor& rows);

// How a time changes the norms of a block: norm(x) * scale + shift, [C] each. Undefined: not at
// all.
struct BlockModulation {
  at::Tensor attention_scale, attention_shift;
  at::Tensor mlp_scale, mlp_shift;
};

// Queries, keys and values of rows, [f, h, w, N, D] each.
struct WindowHeads {
  at::Tensor q, k, v;
};

struct WindowBlock {
  WindowSizes window;
  int64_t head_width = 64;
  at::Tensor norm1, norm2;  // [C]
  Linear to_q, to_k, to_v, to_out;
  at::Tensor norm_q, norm_k;  // [head_width]
  Linear up, gate, down;

  // Of rows whose first frame is the clip's `first`: normed, scaled and turned by their places.
  WindowHeads Heads(const Ops& ops, const at::Tensor& x, int64_t first,
                    const BlockModulation& by) const;
  // The rows behind the block, from those before it and what their attention found, [f, h, w, N,
  // D].
  at::Tensor Finish(const Ops& ops, const at::Tensor& x, const at::Tensor& attended,
                    const BlockModulation& by) const;
};

// Reads `name`.{norm1,attn,norm2,mlp}.
WindowBlock TakeWindowBlock(Weights& weights, const std::string& name, int64_t channels,
                            const WindowSizes& window, int64_t head_width);

}  // namespace reel::model
