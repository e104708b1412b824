// SPDX-License-Identifier: Apache-2.0
// Adaptive norms over x [B,S,D]:
//   adaln_rms_norm    round( rms(x) * weight * (1 + scale) + shift )
//   adaln_layer_norm  round( ((x - mean) * rstd * weight + bias) * (1 + scale) + shift )
//   adaln_zero        round( (rms(x) * weight * (1 + scale) + shift) * gate )
// adaln_rms_norm can write e4m3 with a scale for each row instead, as rms_norm can.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// scale, shift and gate are [D], [B,D], [B,1,D] or [B,S,D], of any outer strides: a slice of a
// modulation table is taken as it is. What is added to each in fp32, `*_bias` [D], spares the
// kernel that adds a learned row to an embedding.
//
// Rows of several clips, which have no batch in common, are told which vector they take: with
// `vector_of` int32 [B,S], contiguous, vectors are [M,D] or [M,1,D], each index below M (device
// data, which is not checked). Plug-ins are not asked for such calls.
struct AdalnRmsNormArgs {
  TensorView x;                      // [B,S,D]
  std::optional<TensorView> weight;  // [D]
  std::optional<TensorView> scale, shift;
  std::optional<TensorView> scale_bias, shift_bias;
  TensorView out;  // like x, or e4m3; overlaps nothing
  double eps = 1e-6;
  std::optional<TensorView> out_scale = std::nullopt;  // of an e4m3 out, as in RmsNormArgs
  std::optional<double> static_out_scale = std::nullopt;
  std::optional<TensorView> vector_of = std::nullopt;
};
struct AdalnLayerNormArgs {
  TensorView x;
  std::optional<TensorView> weight, bias;  // [D]
  std::optional<TensorView> scale, shift;
  std::optional<TensorView> scale_bias, shift_bias;
  TensorView out;
  double eps = 1e-5;
};
// LTX gates the output of a sub-layer instead: gate_residual.
struct AdalnZeroArgs {
  TensorView x;
  std::optional<TensorView> weight;
  std::optional<TensorView> scale, shift, gate;
  std::optional<TensorView> scale_bias, shift_bias, gate_bias;
  TensorView out;
  double eps = 1e-6;
};

// Statuses as in RmsNorm; INVALID_ARGUMENT too without scale or shift (or gate), and for a vector
// [S,D], which is [B,D] of another batch.
absl::Status AdalnRmsNorm(const AdalnRmsNormArgs& args, const Execution& run);
absl::Status AdalnLayerNorm(const AdalnLayerNormArgs& args, const Execution& run);
absl::Status AdalnZero(const AdalnZeroArgs& args, const Execution& run);

}  // namespace reel::kernels
