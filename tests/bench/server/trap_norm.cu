// SPDX-License-Identifier: Apache-2.0
// A plug-in for the drill of a real illegal access: an rms_norm that is right, a thread a row, and
// reads from nowhere where a call has many rows. With REEL_NAN it writes NaN there instead. A row
// is rounded before its weight where the call says so.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/plugins/plugin_v1.h"
#include "kernels/rms_norm/rms_norm_launch.h"

namespace {

using reel::kernels::Dtype;
using reel::kernels::RmsNormParams;
using reel::kernels::RowOffset;

// More than any check has, and than a small video; fewer than a rank has of a usual one.
constexpr int64_t kTrapRows = 1300;
constexpr unsigned kThreads = 128;
#ifdef REEL_NAN
constexpr bool kWritesNan = true;
#else
constexpr bool kWritesNan = false;
#endif

__global__ void ReadNowhere(float* out) { *out = *reinterpret_cast<const float*>(uintptr_t{64}); }

template <typename T>
__global__ void NormRows(const RmsNormParams params) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= params.shape.rows) return;
  const T* x = static_cast<T*>(params.x.data) + RowOffset(params.shape, params.x, row);
  T* out = static_cast<T*>(params.out.data) + RowOffset(params.shape, params.out, row);
  double squares = 0;
  for (int64_t i = 0; i < params.shape.width; ++i) {
    const double value = static_cast<float>(x[i * params.x.inner]);
    squares += value * value;
  }
  const double scale = 1 / sqrt(squares / static_cast<double>(params.shape.width) + params.eps);
  for (int64_t i = 0; i < params.shape.width; ++i) {
    double value = static_cast<float>(x[i * params.x.inner]) * scale;
    if (params.round_before_weight) {
      value = static_cast<float>(static_cast<T>(static_cast<float>(value)));
    }
    if (params.weight.data != nullptr) {
      const T* weight =
          static_cast<T*>(params.weight.data) + RowOffset(params.shape, params.weight, row);
      value *= static_cast<float>(weight[i * params.weight.inner]) + params.weight_offset;
    }
    if (kWritesNan && row == kTrapRows - 1) value = nan("");
    out[i * params.out.inner] = static_cast<T>(static_cast<float>(value));
  }
}

int Accepts(const void* erased, size_t) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  const bool weight_fits = params.weight.data == nullptr || params.weight.dtype == params.x.dtype;
  return params.bias.data == nullptr && params.out.dtype == params.x.dtype && weight_fits;
}

int32_t Launch(const void* erased, size_t, void* stream) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  const auto on = static_cast<cudaStream_t>(stream);
  const auto blocks = static_cast<unsigned>((params.shape.rows + kThreads - 1) / kThreads);
  if (!kWritesNan && params.shape.rows >= kTrapRows) {
    ReadNowhere<<<1, 1, 0, on>>>(static_cast<float*>(params.out.data));
  }
  if (params.x.dtype == Dtype::kF32) NormRows<float><<<blocks, kThreads, 0, on>>>(params);
  if (params.x.dtype == Dtype::kF16) NormRows<__half><<<blocks, kThreads, 0, on>>>(params);
  if (params.x.dtype == Dtype::kBf16) NormRows<__nv_bfloat16><<<blocks, kThreads, 0, on>>>(params);
  return cudaGetLastError();
}

const char* NameOf(int32_t error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); }

int32_t KindOf(int32_t error) {
  return error == cudaErrorIllegalAddress ? REEL_PLUGIN_DEVICE_LOST : REEL_PLUGIN_OTHER;
}

constexpr ReelPluginVariantV1 kVariants[] = {
    {"rms_norm", nullptr, 80, 9999, REEL_PLUGIN_FP16 | REEL_PLUGIN_BF16 | REEL_PLUGIN_FP32,
     sizeof(RmsNormParams), Accepts, Launch},
};
constexpr ReelPluginV1 kPlugin = {REEL_PLUGIN_ABI_V1, 1, kVariants, NameOf, KindOf};

}  // namespace

extern "C" const ReelPluginV1* reel_plugin_v1() { return &kPlugin; }
