// SPDX-License-Identifier: Apache-2.0
// rms_norm for rows of 16-byte vectors: as a plain fused norm where it is one.
#pragma once

#include "kernels/rms_norm/rms_norm_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

template <bool kOverlap>
int32_t LaunchRmsNormVector(const RmsNormParams& params, void* stream) {
  constexpr Statistic kStatistic = Statistic::kMeanSquare;
  const bool weighted = params.weight.data != nullptr;
  FusedNormParams fused;
  fused.shape = params.shape;
  fused.x = params.x;
  fused.weight = params.weight;
  fused.bias = params.bias;
  fused.out = params.out;
  fused.eps = params.eps;
  // Without a weight a second rounding changes nothing.
  const bool plain = !weighted || (!params.round_before_weight && params.weight_offset == 0);
  if (plain && HasPlainParts(fused, kNormed)) {
    return LaunchPlainNorm<kStatistic, kNormed, kOverlap>(fused, stream);
  }
  if (plain && HasPlainParts(fused, kAffine | kNormed)) {
    return LaunchPlainNorm < kStatistic, kAffine | kNormed, kOverlap > (fused, stream);
  }
  return LaunchVectorRows<kOverlap>(RmsNormRow{params}, stream);
}

}  // namespace reel::kernels
