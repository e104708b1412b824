// SPDX-License-Identifier: Apache-2.0
// The 16-bit floating types on the host: storage, conversion with one rounding to nearest even.
//
// Written without branches or intrinsics, so that compilers vectorise a loop over them for any CPU.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "kernels/base/dtype.h"

namespace reel::kernels {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float ToFloat(float value) { return value; }

inline float ToFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

inline float ToFloat(Half value) {
  const uint32_t sign = (static_cast<uint32_t>(value.bits) & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(value.bits) & 0x7fffu;
  // The exponent biases differ by 112; the product is exact, also for subnormals.
  const float finite = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = (magnitude << 13) | 0x7f800000u;
  const uint32_t bits = magnitude >= 0x7c00u ? special : std::bit_cast<uint32_t>(finite);
  return std::bit_cast<float>(bits | sign);
}

template <typename T>
T RoundTo(float value);

template <>
inline float RoundTo<float>(float value) {
  return value;
}

template <>
inline BFloat16 RoundTo<BFloat16>(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<uint16_t>(is_nan ? nan : rounded)};
}

template <>
inline Half RoundTo<Half>(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  // The last place of 0.5f is the smallest half: the addition rounds where the type does.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return {static_cast<uint16_t>(result | sign)};
}

// One rounding from fp64: through a float that is rounded to odd, which a second rounding cannot
// tell from the exact value.
template <typename T>
T RoundTo(double value) {
  float nearest = static_cast<float>(value);
  if constexpr (sizeof(T) == sizeof(float)) {
    return RoundTo<T>(nearest);
  } else {
    if (!std::isfinite(nearest) || static_cast<double>(nearest) == value) {
      return RoundTo<T>(nearest);
    }
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) {
      nearest = std::nextafter(nearest, 0.0f);
    }
    return RoundTo<T>(std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1u));
  }
}

// Calls `body` with a value of the C++ type of `dtype`: VisitFloating(dtype, [&](auto zero) {...}).
template <typename Body>
decltype(auto) VisitFloating(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::kF16:
      return body(Half{});
    case Dtype::kBf16:
      return body(BFloat16{});
    case Dtype::kF32:
      return body(float{});
    default:
      std::abort();  // operators' checks have refused every other type
  }
}

}  // namespace reel::kernels
