// SPDX-License-Identifier: Apache-2.0
// rms_norm where it is a plain fused norm: without a weight, or with one, before which it may be
// rounded. For .cu files.
#pragma once

#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

// `kTo` is kE4m3 for such an output.
template <unsigned kTo, bool kOverlap>
int32_t LaunchPlainRmsNorm(const RmsNormParams& params, void* stream) {
  constexpr Statistic kStatistic = Statistic::kMeanSquare;
  constexpr unsigned kParts = kNormed | kTo;
  const FusedNormParams fused = FusedOf(params);
  if (params.weight.data == nullptr) {
    return LaunchPlainNorm<kStatistic, kParts, kOverlap>(fused, stream);
  }
  if constexpr (kTo == 0) {
    if (params.round_before_weight) {
      return LaunchPlainNorm < kStatistic, kParts | kAffine | kRoundedFirst,
             kOverlap > (fused, stream);
    }
  }
  return LaunchPlainNorm < kStatistic, kParts | kAffine, kOverlap > (fused, stream);
}

}  // namespace reel::kernels
