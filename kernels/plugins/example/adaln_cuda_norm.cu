// SPDX-License-Identifier: Apache-2.0
// A native plug-in for GPUs with one operator, adaln_rms_norm: a block of threads a row.
// docs/kernel_day.md uses it.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/plugins/plugin_v1.h"
#include "kernels/rows/fused_norm.h"

using namespace reel::kernels;

static bool Plain(const RowOperand& r) {
  return r.data && r.inner == 1 && (r.dtype == Dtype::kF32 || r.dtype == Dtype::kBf16);
}

static int Accepts(const void* erased, size_t) {
  const auto& p = *static_cast<const FusedNormParams*>(erased);
  return p.statistic == Statistic::kMeanSquare && Plain(p.x) && Plain(p.scale) && Plain(p.shift) &&
         Plain(p.out) && !p.weight.data && !p.bias.data && !p.residual.data && !p.gate.data &&
         !p.sum.data && !p.scale_bias.data && !p.shift_bias.data;
}

static __device__ double Read(const RowOperand& r, int64_t i) {
  if (r.dtype == Dtype::kF32) return static_cast<float*>(r.data)[i];
  return __bfloat162float(static_cast<__nv_bfloat16*>(r.data)[i]);
}

static __global__ void Norm(const FusedNormParams p) {
  const auto row_of = [&](const RowOperand& r) { return RowOffset(p.shape, r, blockIdx.x); };
  const int64_t x = row_of(p.x), scale = row_of(p.scale), shift = row_of(p.shift),
                out = row_of(p.out);
  __shared__ double warps[8];
  double squares = 0;
  for (int64_t i = threadIdx.x; i < p.shape.width; i += 256)
    squares += Read(p.x, x + i) * Read(p.x, x + i);
  for (int lane = 16; lane > 0; lane /= 2) squares += __shfl_xor_sync(~0u, squares, lane);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0;
  for (const double warp : warps) squares += warp;
  const double rstd = 1 / sqrt(squares / p.shape.width + p.eps);
  for (int64_t i = threadIdx.x; i < p.shape.width; i += 256) {
    const auto value = static_cast<float>(Read(p.x, x + i) * rstd * (1 + Read(p.scale, scale + i)) +
                                          Read(p.shift, shift + i));
    if (p.out.dtype == Dtype::kF32)
      static_cast<float*>(p.out.data)[out + i] = value;
    else
      static_cast<__nv_bfloat16*>(p.out.data)[out + i] = __float2bfloat16_rn(value);
  }
}

static int32_t Launch(const void* erased, size_t, void* stream) {
  const auto& p = *static_cast<const FusedNormParams*>(erased);
  Norm<<<static_cast<unsigned>(p.shape.rows), 256, 0, static_cast<cudaStream_t>(stream)>>>(p);
  return cudaGetLastError();
}

static const char* NameOf(int32_t error) {
  return cudaGetErrorName(static_cast<cudaError_t>(error));
}

static const ReelPluginVariantV1 kVariants[] = {{"adaln_rms_norm", nullptr, 80, 9999,
                                                 REEL_PLUGIN_FP32 | REEL_PLUGIN_BF16,
                                                 sizeof(FusedNormParams), Accepts, Launch}};
static const ReelPluginV1 kPlugin = {REEL_PLUGIN_ABI_V1, 1, kVariants, NameOf, nullptr};
extern "C" const ReelPluginV1* reel_plugin_v1() { return &kPlugin; }
