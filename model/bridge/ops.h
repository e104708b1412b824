// SPDX-License-Identifier: Apache-2.0
// The operators that a model is made of, on tensors: the one place where a request's plan decides
// what runs. Each call is counted under its key and variant. This side runs libtorch's own
// implementation, the variant "aten", in the reference's order of operations and roundings.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "kernels/dispatch/execution.h"
#include "model/bridge/aten.h"

namespace reel::model {

// cos and sin of each channel's angle, [B or 1, S, D] fp32.
struct RopeTable {
  at::Tensor cos, sin;
};

// A value for one call of a pipeline; throws what libtorch throws. Vectors (scale, shift, gate) are
// [B, 1 or S, D]; an undefined tensor means that there is none.
class Ops {
 public:
  explicit Ops(const kernels::Execution& run) : run_(run) {}

  const kernels::Execution& run() const { return run_; }

  // Over the last dimension, in fp32, rounded once.
  at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const;
  // T5's: rounded before the weight, and again.
  at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) const;
  at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       double eps) const;
  // norm(x) * (1 + scale) + shift
  at::Tensor AdalnRmsNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                          double eps) const;
  at::Tensor AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                            double eps) const;
  // x + y * gate; without a gate x + y.
  at::Tensor GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate) const;
  // Pairs of neighbouring channels of x [B, S, D], rotated over the whole width.
  at::Tensor LtxRope(const at::Tensor& x, const RopeTable& table) const;
  // q [B, N, S, Dh], k and v [B, N, L, Dh]; `bias` is added to the scores. scale 0: 1/sqrt(Dh).
  at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const at::Tensor& bias, double scale) const;
  at::Tensor GeluTanh(const at::Tensor& x) const;
  // gelu_tanh(gate) * value, the gelu op by op in the tensors' type as T5 does it.
  at::Tensor GatedGelu(const at::Tensor& gate, const at::Tensor& value) const;
  // x [B, C, F, H, W]: RMS over channels, then * (1 + scale) + shift where given ([B, C, 1, 1, 1]),
  // then SiLU.
  at::Tensor ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                             const at::Tensor& shift) const;

 private:
  void Count(std::string_view op) const;

  const kernels::Execution& run_;
};

}  // namespace reel::model
