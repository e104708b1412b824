// SPDX-License-Identifier: Apache-2.0
// Embeds a time as a vector: sinusoid, linear, SiLU, linear. Used by the transformer and by
// decoders that are conditioned on a time.
#pragma once

#include <string>

#include "model/bridge/ops.h"
#include "model/layers/linear.h"

namespace reel::model {

// [n] fp32 to [n, 256] fp32: cosines first, then sines. `t` in 0..1000.
at::Tensor TimestepSinusoid(const at::Tensor& t);

struct TimestepEmbedding {
  Linear linear_1, linear_2;

  // [n] to [n, D], in the weights' type.
  at::Tensor operator()(const Ops& ops, const at::Tensor& t) const;
};

// Reads `name`.timestep_embedder.linear_{1,2}.
TimestepEmbedding TakeTimestepEmbedding(Weights& weights, const std::string& name, int64_t width);

}  // namespace reel::model
