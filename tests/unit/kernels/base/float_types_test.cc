// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/float_types.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

// The definition of fp16 and bf16, slowly.
double Decode(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <typename T>
void ExpectEveryValueSurvives(int exponent_bits, int mantissa_bits) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const T value{static_cast<uint16_t>(bits)};
    const double want = Decode(value.bits, exponent_bits, mantissa_bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(ToFloat(value))) << bits;
      EXPECT_TRUE(std::isnan(ToFloat(RoundTo<T>(ToFloat(value))))) << bits;
      continue;
    }
    ASSERT_EQ(ToFloat(value), want) << bits;
    ASSERT_EQ(RoundTo<T>(ToFloat(value)).bits, value.bits);
  }
}

TEST(Half, SurvivesConversionForEveryValue) { ExpectEveryValueSurvives<Half>(5, 10); }
TEST(BFloat16, SurvivesConversionForEveryValue) { ExpectEveryValueSurvives<BFloat16>(8, 7); }

// Halfway between two neighbours the even one wins, and a hair beside it the nearer one.
template <typename T>
void ExpectNearestEven(uint16_t first, uint16_t last) {
  for (uint16_t bits = first; bits < last; ++bits) {
    const double low = static_cast<double>(ToFloat(T{bits}));
    const double high = static_cast<double>(ToFloat(T{static_cast<uint16_t>(bits + 1)}));
    const double middle = (low + high) / 2;
    const uint16_t even = bits % 2 == 0 ? bits : static_cast<uint16_t>(bits + 1);
    ASSERT_EQ(RoundTo<T>(middle).bits, even) << bits;
    ASSERT_EQ(RoundTo<T>(static_cast<float>(middle)).bits, even) << bits;
    // Nearer to the middle than a float can tell: only one rounding gets this right.
    const double hair = (high - low) * 0x1p-40;
    ASSERT_EQ(RoundTo<T>(middle - hair).bits, bits);
    ASSERT_EQ(RoundTo<T>(middle + hair).bits, bits + 1);
  }
}

TEST(Half, RoundsOnceToNearestEven) { ExpectNearestEven<Half>(0, 0x7bff); }
TEST(BFloat16, RoundsOnceToNearestEven) { ExpectNearestEven<BFloat16>(0x0080, 0x7f7f); }

TEST(Half, OverflowsToInfinityFromTheMiddleOn) {
  EXPECT_EQ(RoundTo<Half>(65519.9f).bits, 0x7bff);
  EXPECT_EQ(RoundTo<Half>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(RoundTo<Half>(-1e30f).bits, 0xfc00);
}

TEST(RoundTo, KeepsTheSignOfZeroAndOfUnderflow) {
  EXPECT_EQ(RoundTo<Half>(-0.0f).bits, 0x8000);
  EXPECT_EQ(RoundTo<Half>(-1e-30f).bits, 0x8000);
  EXPECT_EQ(RoundTo<BFloat16>(-0.0).bits, 0x8000);
}

}  // namespace
}  // namespace reel::kernels
