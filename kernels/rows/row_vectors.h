// SPDX-License-Identifier: Apache-2.0
// Shared code of the `cpu` variants: fp32 rows that the compiler vectorises, for this processor's
// widest instruction set.
//
// A reduction keeps kLanes partial sums whatever the instruction set, and products are not
// contracted, so that a row has the same bits on every x86-64 processor.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/base/float_types.h"
#include "kernels/rows/row_layout.h"

#define REEL_INLINE inline __attribute__((always_inline))

namespace reel::kernels {

inline constexpr int64_t kLanes = 32;

// The fp32 values of a contiguous row; a constant if the operand is absent.
template <typename T>
REEL_INLINE void LoadTyped(const T* data, int64_t width, float* out) {
  for (int64_t i = 0; i < width; ++i) out[i] = ToFloat(data[i]);
}

REEL_INLINE void LoadFloats(const RowShape& shape, const RowOperand& operand, int64_t row,
                            float* out, float absent = 0) {
  if (operand.data == nullptr) {
    for (int64_t i = 0; i < shape.width; ++i) out[i] = absent;
    return;
  }
  const int64_t offset = RowOffset(shape, operand, row);
  if (operand.dtype == Dtype::kF32) {
    LoadTyped(static_cast<const float*>(operand.data) + offset, shape.width, out);
  } else if (operand.dtype == Dtype::kBf16) {
    LoadTyped(static_cast<const BFloat16*>(operand.data) + offset, shape.width, out);
  } else {
    LoadTyped(static_cast<const Half*>(operand.data) + offset, shape.width, out);
  }
}

template <typename T>
REEL_INLINE void StoreTyped(const float* values, int64_t width, T* out) {
  for (int64_t i = 0; i < width; ++i) out[i] = RoundTo<T>(values[i]);
}

REEL_INLINE void StoreFloats(const RowShape& shape, const RowOperand& operand, int64_t row,
                             const float* values) {
  const int64_t offset = RowOffset(shape, operand, row);
  if (operand.dtype == Dtype::kF32) {
    StoreTyped(values, shape.width, static_cast<float*>(operand.data) + offset);
  } else if (operand.dtype == Dtype::kBf16) {
    StoreTyped(values, shape.width, static_cast<BFloat16*>(operand.data) + offset);
  } else {
    StoreTyped(values, shape.width, static_cast<Half*>(operand.data) + offset);
  }
}

// Sums `term(i)` for i < width, in kLanes chains that are added as a tree.
template <typename Term>
REEL_INLINE float LaneSum(int64_t width, const Term& term) {
  std::array<float, kLanes> lanes{};
  const int64_t whole = width / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[static_cast<size_t>(lane)] += term(i + lane);
    }
  }
  for (int64_t i = whole; i < width; ++i) lanes[static_cast<size_t>(i - whole)] += term(i);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// True if the elements of every present operand are contiguous.
template <typename... Operands>
bool SideBySide(const Operands&... operands) {
  return ((operands.data == nullptr || operands.inner == 1) && ...);
}

#ifdef __clang__  // here the width is an attribute, not a target
#define REEL_AVX512 gnu::target("avx512f,avx512bw,avx512vl,avx512dq"), clang::min_vector_width(512)
#else
#define REEL_AVX512 gnu::target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#endif
template <typename Body>
[[REEL_AVX512, gnu::flatten]] void RunAvx512(const Body& body) {
  body();
}
template <typename Body>
[[gnu::target("avx2"), gnu::flatten]] void RunAvx2(const Body& body) {
  body();
}

// Runs `body` compiled for this processor. Everything it calls must be inline.
template <typename Body>
void WithWidestVectors(const Body& body) {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    RunAvx512(body);
  } else if (__builtin_cpu_supports("avx2")) {
    RunAvx2(body);
  } else {
    body();
  }
}

}  // namespace reel::kernels
