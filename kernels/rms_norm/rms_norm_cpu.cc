// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/dispatch/host_threads.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

REEL_INLINE void Row(const RmsNormParams& params, int64_t row, float* x, const float* weight,
                     const float* bias) {
  const int64_t width = params.shape.width;
  LoadFloats(params.shape, params.x, row, x);
  const float sum = LaneSum(width, [&](int64_t i) { return x[i] * x[i]; });
  const float rstd = 1.0f / std::sqrt(sum / static_cast<float>(width) + params.eps);
  for (int64_t i = 0; i < width; ++i) x[i] *= rstd;
  if (params.round_before_weight && params.x.dtype == Dtype::kF16) {
    for (int64_t i = 0; i < width; ++i) x[i] = ToFloat(RoundTo<Half>(x[i]));
  } else if (params.round_before_weight && params.x.dtype == Dtype::kBf16) {
    for (int64_t i = 0; i < width; ++i) x[i] = ToFloat(RoundTo<BFloat16>(x[i]));
  }
  for (int64_t i = 0; i < width; ++i) x[i] = x[i] * weight[i] + bias[i];
  StoreFloats(params.shape, params.out, row, x);
}

void Rows(const RmsNormParams& params, int64_t first, int64_t end) {
  const int64_t width = params.shape.width;
  std::vector<float> rows(static_cast<size_t>(3 * width));
  float* x = rows.data();
  float* weight = x + width;
  float* bias = weight + width;
  WithWidestVectors([&] {
    LoadFloats(params.shape, params.weight, 0, weight, 1);
    LoadFloats(params.shape, params.bias, 0, bias, kNoAddend);
    if (params.weight.data != nullptr) {
      for (int64_t i = 0; i < width; ++i) weight[i] += params.weight_offset;
    }
    for (int64_t row = first; row < end; ++row) Row(params, row, x, weight, bias);
  });
}

}  // namespace

bool RmsNormCpuAccepts(const RmsNormParams& params) {
  return params.out.dtype != Dtype::kE4m3 &&
         SideBySide(params.x, params.weight, params.bias, params.out);
}

void RmsNormCpu(const RmsNormParams& params, const HostThreads* threads) {
  DivideRows(threads, params.shape.rows, params.shape.width,
             [&](int64_t first, int64_t end) { Rows(params, first, end); });
}

}  // namespace reel::kernels
