// SPDX-License-Identifier: Apache-2.0
// Element types of tensors. Included by nvcc too: plain C++, no abseil.
#pragma once

#include <cstdint>

namespace reel::kernels {

enum class Dtype : int32_t {
  kF16 = 0,
  kBf16 = 1,
  kF32 = 2,
  kF64 = 3,
  kI32 = 4,
  kI64 = 5,
  kU8 = 6,
  kE4m3 = 7,  // e4m3fn: finite only, largest 448
  kI8 = 8,
};

constexpr int64_t DtypeSize(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
    case Dtype::kBf16:
      return 2;
    case Dtype::kF32:
    case Dtype::kI32:
      return 4;
    case Dtype::kF64:
    case Dtype::kI64:
      return 8;
    case Dtype::kU8:
    case Dtype::kE4m3:
    case Dtype::kI8:
      return 1;
  }
  return 0;
}

constexpr const char* DtypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return "fp16";
    case Dtype::kBf16:
      return "bf16";
    case Dtype::kF32:
      return "fp32";
    case Dtype::kF64:
      return "fp64";
    case Dtype::kI32:
      return "int32";
    case Dtype::kI64:
      return "int64";
    case Dtype::kU8:
      return "uint8";
    case Dtype::kE4m3:
      return "e4m3";
    case Dtype::kI8:
      return "int8";
  }
  return "unknown";
}

// The three types that operators compute in.
constexpr bool IsFloating(Dtype dtype) {
  return dtype == Dtype::kF16 || dtype == Dtype::kBf16 || dtype == Dtype::kF32;
}

// A set of types, one bit each.
using DtypeMask = uint32_t;
constexpr DtypeMask MaskOf(Dtype dtype) { return DtypeMask{1} << static_cast<int32_t>(dtype); }
inline constexpr DtypeMask kAnyFloating =
    MaskOf(Dtype::kF16) | MaskOf(Dtype::kBf16) | MaskOf(Dtype::kF32);
inline constexpr DtypeMask kSixteenBit = MaskOf(Dtype::kF16) | MaskOf(Dtype::kBf16);

}  // namespace reel::kernels
