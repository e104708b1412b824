// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/activation/activation_launch.h"
#include "kernels/dispatch/host_threads.h"
#include "kernels/rows/row_vectors.h"
#include "kernels/rows/vector_math.h"

namespace reel::kernels {
namespace {

REEL_INLINE void Activate(const ActivationParams& params, int64_t width, float* x) {
  const Activation kind = params.kind;
  if (kind == Activation::kFatRelu) {
    const float threshold = params.threshold;
    for (int64_t i = 0; i < width; ++i) x[i] = x[i] <= threshold ? 0.0f : x[i];
    return;
  }
  if (kind == Activation::kGeluTanh) {
    for (int64_t i = 0; i < width; ++i) {
      // sqrt(2/pi), twice.
      const float z = 1.59576912f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
      x[i] *= VectorSigmoid(z);
    }
    return;
  }
  const float slope = kind == Activation::kGeluQuick ? 1.702f : 1.0f;
  for (int64_t i = 0; i < width; ++i) x[i] *= VectorSigmoid(slope * x[i]);
}

void Rows(const ActivationParams& params, int64_t first, int64_t end) {
  const int64_t width = params.shape.width;
  std::vector<float> storage(static_cast<size_t>(2 * width));
  float* x = storage.data();
  float* other = x + width;
  WithWidestVectors([&] {
    for (int64_t row = first; row < end; ++row) {
      LoadFloats(params.shape, params.x, row, x);
      if (params.bias.data != nullptr) {
        LoadFloats(params.shape, params.bias, row, other);
        for (int64_t i = 0; i < width; ++i) x[i] += other[i];
      }
      Activate(params, width, x);
      if (params.value.data != nullptr) {
        LoadFloats(params.shape, params.value, row, other);
        for (int64_t i = 0; i < width; ++i) x[i] *= other[i];
      }
      StoreFloats(params.shape, params.out, row, x);
    }
  });
}

}  // namespace

bool ActivationCpuAccepts(const ActivationParams& params) {
  return params.kind != Activation::kGeluErf && params.out.dtype != Dtype::kE4m3 &&
         SideBySide(params.x, params.bias, params.value, params.out);
}

void ActivationCpu(const ActivationParams& params, const HostThreads* threads) {
  DivideRows(threads, params.shape.rows, params.shape.width,
             [&](int64_t first, int64_t end) { Rows(params, first, end); });
}

}  // namespace reel::kernels
