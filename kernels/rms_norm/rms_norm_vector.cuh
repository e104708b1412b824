// SPDX-License-Identifier: Apache-2.0
// rms_norm for rows of 16-byte vectors: as a plain fused norm where it is one.
#pragma once

#include "kernels/rms_norm/rms_norm_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

template <bool kOverlap>
int32_t LaunchRmsNormVector(const RmsNormParams& params, void* stream) {
  constexpr Statistic kStatistic = Statistic::kMeanSquare;
  const FusedNormParams fused = FusedOf(params);
  const bool plain = IsFused(params);
  if (plain && HasPlainParts(fused, kNormed)) {
    return LaunchPlainNorm<kStatistic, kNormed, kOverlap>(fused, stream);
  }
  if (plain && HasPlainParts(fused, kAffine | kNormed)) {
    return LaunchPlainNorm < kStatistic, kAffine | kNormed, kOverlap > (fused, stream);
  }
  return LaunchVectorRows<kOverlap>(RmsNormRow{params}, stream);
}

// To e4m3: RmsNormVectorAccepts has seen that the call is plain.
template <bool kOverlap>
int32_t LaunchRmsNormE4m3(const RmsNormParams& params, void* stream) {
  constexpr Statistic kStatistic = Statistic::kMeanSquare;
  const FusedNormParams fused = FusedOf(params);
  if (params.weight.data == nullptr) {
    return LaunchPlainNorm<kStatistic, kNormE4m3, kOverlap>(fused, stream);
  }
  return LaunchPlainNorm<kStatistic, kWeightedNormE4m3, kOverlap>(fused, stream);
}

}  // namespace reel::kernels
