// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/norm_rope_rows.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

constexpr int64_t kTokens = 3, kRows = 2 * kTokens;
constexpr float kEps = 1e-5f;

struct Pairs {
  int64_t width;
  int64_t half = 0;  // of a split head; 0: neighbours
};

class NormRopeRowsTest : public ::testing::TestWithParam<Pairs> {
 protected:
  std::vector<float> Values(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    std::normal_distribution<float> draw;
    for (float& value : values) value = draw(random_);
    return values;
  }

  // In fp64.
  double Expected(const NormRopeSide& side, int64_t row, int64_t channel) const {
    const float* in = side.in + row * side.stride;
    double squares = 0;
    for (int64_t i = 0; i < width_; ++i) squares += double{in[i]} * double{in[i]};
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(width_) + double{kEps});
    const auto normed = [&](int64_t i) { return double{in[i]} * rstd * double{side.weight[i]}; };
    const int64_t half = GetParam().half;
    const bool is_first = half == 0 ? channel % 2 == 0 : channel / half % 2 == 0;
    const int64_t apart = half == 0 ? 1 : half;
    const double turned = is_first ? -normed(channel + apart) : normed(channel - apart);
    const auto angle = static_cast<size_t>(
        half == 0 ? row % kTokens * width_ + channel
                  : row % kTokens * width_ / 2 + channel / (2 * half) * half + channel % half);
    return normed(channel) * double{cos_[angle]} + turned * double{sin_[angle]};
  }

  const int64_t width_ = GetParam().width, stride_ = 3 * width_;
  std::mt19937 random_{7};
  // As one projection makes them: queries, keys and values of a row side by side.
  const std::vector<float> qkv_ = Values(kRows * stride_);
  const std::vector<float> q_weight_ = Values(width_), k_weight_ = Values(width_);
  const std::vector<float> cos_ = Values(kTokens * width_), sin_ = Values(kTokens * width_);
  std::vector<float> q_ = std::vector<float>(static_cast<size_t>(kRows * width_), -1);
  std::vector<float> k_ = q_;
  const NormRopeRows rows_ = {.q = {qkv_.data(), stride_, q_weight_.data(), q_.data()},
                              .k = {qkv_.data() + width_, stride_, k_weight_.data(), k_.data()},
                              .cos = cos_.data(),
                              .sin = sin_.data(),
                              .tokens = kTokens,
                              .width = width_,
                              .eps = kEps,
                              .half = GetParam().half};
};

TEST_P(NormRopeRowsTest, NormsAndTurnsEachRowByTheAnglesOfItsToken) {
  ComputeNormRopeRows(rows_, 0, kRows);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t channel = 0; channel < width_; ++channel) {
      const auto at = static_cast<size_t>(row * width_ + channel);
      EXPECT_NEAR(q_[at], Expected(rows_.q, row, channel), 2e-5) << row << " " << channel;
      EXPECT_NEAR(k_[at], Expected(rows_.k, row, channel), 2e-5) << row << " " << channel;
    }
  }
}

TEST_P(NormRopeRowsTest, WritesOnlyTheRowsThatAreAskedForAndTheSameBits) {
  ComputeNormRopeRows(rows_, 0, kRows);
  const std::vector<float> whole = q_;
  q_.assign(q_.size(), -1);
  ComputeNormRopeRows(rows_, 2, 4);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t channel = 0; channel < width_; ++channel) {
      const auto at = static_cast<size_t>(row * width_ + channel);
      EXPECT_EQ(q_[at], row == 2 || row == 3 ? whole[at] : -1.0f);
    }
  }
}

TEST_P(NormRopeRowsTest, LeavesOutKeysThatAreNotThere) {
  ComputeNormRopeRows(rows_, 0, kRows);
  const std::vector<float> both = q_;
  q_.assign(q_.size(), -1);
  NormRopeRows alone = rows_;
  alone.k = {};
  ComputeNormRopeRows(alone, 0, kRows);
  EXPECT_EQ(q_, both);
}

// Less than a vector, several with a rest, and whole ones.
INSTANTIATE_TEST_SUITE_P(Widths, NormRopeRowsTest,
                         ::testing::Values(Pairs{2}, Pairs{66}, Pairs{192}, Pairs{2, 1},
                                           Pairs{66, 11}, Pairs{192, 32}));

}  // namespace
}  // namespace reel::kernels
