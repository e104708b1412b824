// SPDX-License-Identifier: Apache-2.0
// activation for rows of 16-byte vectors (ActivationVectorAccepts). A thread has four loads in
// flight; without a bias contiguous rows are treated as one row.
#include "kernels/activation/activation_function.cuh"
#include "kernels/activation/activation_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {
namespace {

// Vectors of a thread; a gated call has the same number of loads.
template <bool kGated>
constexpr int kVectorsOf = kGated ? 2 : 4;

struct PlainActivation {
  PlainOperand x, value, out;
  RowPointer bias;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;
  int32_t spans;  // blocks of a row
};

__device__ char* RowAt(const PlainOperand& operand, int64_t outer, int64_t row) {
  return operand.data + outer * operand.outer + row * operand.inner;
}

template <typename T, Activation kKind, bool kGated>
__device__ void ActivateRow(const PlainActivation& p, int64_t outer, int64_t row, int first) {
  constexpr int kVectors = kVectorsOf<kGated>;
  constexpr int kPer = kPerVector<T>;
  const auto* x = reinterpret_cast<const uint4*>(RowAt(p.x, outer, row));
  const auto* value = reinterpret_cast<const uint4*>(RowAt(p.value, outer, row));
  uint4 raw[kVectors];
  uint4 raw_value[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int vector = first + v * kVectorThreads;
    if (vector >= p.vectors) continue;
    raw[v] = Load16<Reuse::kStreamed>(x + vector);
    if constexpr (kGated) raw_value[v] = Load16<Reuse::kStreamed>(value + vector);
  }
  const RowPointer out{RowAt(p.out, outer, row), 1, false};
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int vector = first + v * kVectorThreads;
    if (vector >= p.vectors) continue;
    float values[kPer];
    float by[kPer];
    Unpack<T>(raw[v], values);
    if (p.bias.data != nullptr) {
      LoadVector<T>(p.bias, int64_t{vector} * kPer, 0.0f, by);
#pragma unroll
      for (int k = 0; k < kPer; ++k) values[k] += by[k];
    }
#pragma unroll
    for (int k = 0; k < kPer; ++k) values[k] = Activated<kKind>(values[k]);
    if constexpr (kGated) {
      Unpack<T>(raw_value[v], by);
#pragma unroll
      for (int k = 0; k < kPer; ++k) values[k] *= by[k];
    }
    StoreRow<T>(out, int64_t{vector} * kPer, values);
  }
}

template <typename T, Activation kKind, bool kGated>
__global__ void __launch_bounds__(kVectorThreads)
    ActivationVectors(const __grid_constant__ PlainActivation p) {
  constexpr int kSpan = kVectorsOf<kGated> * kVectorThreads;
  const int64_t jobs = p.outer_rows * p.inner_rows * p.spans;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t index = p.spans == 1 ? job : Quotient(job, p.spans);
    const int64_t outer = p.outer_rows == 1 ? 0 : Quotient(index, p.inner_rows);
    const auto span = static_cast<int>(job - index * p.spans);
    ActivateRow<T, kKind, kGated>(p, outer, index - outer * p.inner_rows,
                                  span * kSpan + static_cast<int>(threadIdx.x));
  }
}

// The most that 32 bits can count, with room for a block past the end.
constexpr int64_t kMostVectors = int64_t{1} << 30;

PlainActivation PlainOf(const ActivationParams& p) {
  PlainActivation plain{};
  plain.x = PlainOf(p.shape, p.x);
  plain.value = PlainOf(p.shape, p.value);
  plain.out = PlainOf(p.shape, p.out);
  plain.bias = {static_cast<char*>(p.bias.data), 1, p.bias.dtype == Dtype::kF32};
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  const int64_t bytes = p.shape.width * DtypeSize(p.x.dtype);
  int64_t vectors = bytes / 16;
  const bool one_run = plain.outer_rows == 1 && p.bias.data == nullptr && plain.x.inner == bytes &&
                       plain.out.inner == bytes &&
                       (p.value.data == nullptr || plain.value.inner == bytes);
  if (one_run && vectors * plain.inner_rows <= kMostVectors) {
    vectors *= plain.inner_rows;
    plain.inner_rows = 1;
  }
  plain.vectors = static_cast<int32_t>(vectors);
  return plain;
}

template <typename T, Activation kKind, bool kGated>
int32_t LaunchForm(PlainActivation plain, cudaStream_t stream) {
  constexpr int kSpan = kVectorsOf<kGated> * kVectorThreads;
  plain.spans = (plain.vectors + kSpan - 1) / kSpan;
  const unsigned grid = GridFor(plain.outer_rows * plain.inner_rows * plain.spans, 1);
  ActivationVectors<T, kKind, kGated><<<grid, kVectorThreads, 0, stream>>>(plain);
  return cudaGetLastError();
}

template <typename T, Activation kKind>
int32_t LaunchKind(const ActivationParams& params, cudaStream_t stream) {
  const PlainActivation plain = PlainOf(params);
  return params.value.data != nullptr ? LaunchForm<T, kKind, true>(plain, stream)
                                      : LaunchForm<T, kKind, false>(plain, stream);
}

template <typename T>
int32_t LaunchTyped(const ActivationParams& params, cudaStream_t stream) {
  switch (params.kind) {
    case Activation::kGeluErf:
      return LaunchKind<T, Activation::kGeluErf>(params, stream);
    case Activation::kGeluTanh:
      return LaunchKind<T, Activation::kGeluTanh>(params, stream);
    case Activation::kGeluQuick:
      return LaunchKind<T, Activation::kGeluQuick>(params, stream);
    case Activation::kSilu:
      return LaunchKind<T, Activation::kSilu>(params, stream);
    case Activation::kFatRelu:
      break;  // left to generic
  }
  return cudaErrorInvalidValue;
}

}  // namespace

int32_t LaunchActivationSm80(const ActivationParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) { return LaunchTyped<T>(params, on); });
}

}  // namespace reel::kernels
