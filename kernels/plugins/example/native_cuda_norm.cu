// SPDX-License-Identifier: Apache-2.0
// A native plug-in with a kernel for GPUs: rms_norm, a block a row. The README beside it says how
// to compile, pack and check it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/plugins/plugin_v1.h"
#include "kernels/rms_norm/rms_norm_launch.h"

namespace {

using reel::kernels::Dtype;
using reel::kernels::RmsNormParams;
using reel::kernels::RowOffset;
using reel::kernels::RowOperand;

constexpr int kThreads = 256, kWarps = kThreads / 32;
// Of a kernel compiled for older devices too: the first that has bf16.
constexpr int32_t kFirstCapability = 80, kAnyLater = 9999;

__device__ float ToFloat(float value) { return value; }
__device__ float ToFloat(__half value) { return __half2float(value); }
__device__ float ToFloat(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void Store(float value, float* out) { *out = value; }
__device__ void Store(float value, __half* out) { *out = __float2half_rn(value); }
__device__ void Store(float value, __nv_bfloat16* out) { *out = __float2bfloat16_rn(value); }

// The same order of additions for every row of a width: a row's bits are its own.
__device__ float SumOfBlock(float value) {
  __shared__ float warps[kWarps];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (const float warp : warps) sum += warp;
  return sum;
}

template <typename T>
__device__ T* RowOf(const RmsNormParams& params, const RowOperand& operand) {
  return static_cast<T*>(operand.data) + RowOffset(params.shape, operand, blockIdx.x);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) RmsNormKernel(const RmsNormParams params) {
  const T* const x = RowOf<T>(params, params.x);
  T* const out = RowOf<T>(params, params.out);
  float squares = 0;
  for (int64_t i = threadIdx.x; i < params.shape.width; i += kThreads) {
    const float value = ToFloat(x[i * params.x.inner]);
    squares += value * value;
  }
  const float mean = SumOfBlock(squares) / static_cast<float>(params.shape.width);
  const float scale = rsqrtf(mean + params.eps);
  // `out` may be `x`: each element is read and written by one thread.
  for (int64_t i = threadIdx.x; i < params.shape.width; i += kThreads) {
    float value = ToFloat(x[i * params.x.inner]) * scale;
    if (params.weight.data != nullptr) {
      const T* const weight = RowOf<T>(params, params.weight);
      value *= ToFloat(weight[i * params.weight.inner]) + params.weight_offset;
    }
    Store(value, &out[i * params.out.inner]);
  }
}

// This example has no bias, one rounding, and weights of the rows' type.
int Accepts(const void* erased, size_t) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  const bool weight_fits = params.weight.data == nullptr || params.weight.dtype == params.x.dtype;
  return params.bias.data == nullptr && !params.round_before_weight && weight_fits &&
         params.shape.rows <= INT32_MAX;
}

int32_t Launch(const void* erased, size_t, void* stream) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  const auto on = static_cast<cudaStream_t>(stream);
  const auto rows = static_cast<unsigned>(params.shape.rows);
  if (params.x.dtype == Dtype::kF32) RmsNormKernel<float><<<rows, kThreads, 0, on>>>(params);
  if (params.x.dtype == Dtype::kF16) RmsNormKernel<__half><<<rows, kThreads, 0, on>>>(params);
  if (params.x.dtype == Dtype::kBf16) {
    RmsNormKernel<__nv_bfloat16><<<rows, kThreads, 0, on>>>(params);
  }
  return cudaGetLastError();
}

const char* NameOf(int32_t error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); }

int32_t KindOf(int32_t error) {
  if (error == cudaErrorMemoryAllocation) return REEL_PLUGIN_OUT_OF_MEMORY;
  return error == cudaErrorIllegalAddress ? REEL_PLUGIN_DEVICE_LOST : REEL_PLUGIN_OTHER;
}

constexpr ReelPluginVariantV1 kVariants[] = {
    {"rms_norm", nullptr, kFirstCapability, kAnyLater,
     REEL_PLUGIN_FP16 | REEL_PLUGIN_BF16 | REEL_PLUGIN_FP32, sizeof(RmsNormParams), Accepts,
     Launch},
};
constexpr ReelPluginV1 kPlugin = {REEL_PLUGIN_ABI_V1, 1, kVariants, NameOf, KindOf};

}  // namespace

extern "C" const ReelPluginV1* reel_plugin_v1() { return &kPlugin; }
