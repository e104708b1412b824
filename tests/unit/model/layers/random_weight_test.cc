// SPDX-License-Identifier: Apache-2.0
#include "model/layers/random_weight.h"

#include <cmath>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

const at::TensorOptions kFloat = at::TensorOptions(at::kCPU).dtype(at::kFloat);

at::Tensor Matrix(const std::string& name, uint64_t seed = 1) {
  return RandomWeight(name, {512, 400}, seed, kFloat);
}

double Deviation(const at::Tensor& values) { return values.std(false).item<double>(); }
double Mean(const at::Tensor& values) { return values.mean().item<double>(); }

TEST(RandomWeight, IsNormalAndKeepsTheSizeOfWhatItIsMultipliedWith) {
  const at::Tensor scaled = Matrix("blocks.0.to_q.weight") * std::sqrt(400.0);
  EXPECT_NEAR(Mean(scaled), 0, 0.01);
  EXPECT_NEAR(Deviation(scaled), 1, 0.01);
  EXPECT_NEAR(Mean(scaled.pow(4)), 3, 0.1);
  EXPECT_GT(scaled.abs().max().item<double>(), 4);
}

TEST(RandomWeight, IsMadeForWhatItsNameSays) {
  const auto vector = [](const char* name) { return RandomWeight(name, {4096}, 1, kFloat); };
  EXPECT_NEAR(Mean(vector("norm_q.weight")), 1, 0.01);
  EXPECT_NEAR(Mean(vector("latents_std")), 1, 0.01);
  EXPECT_NEAR(Mean(vector("layers.0.layer_scalar")), 1, 0.01);
  EXPECT_NEAR(Mean(vector("to_q.bias")), 0, 0.01);
  EXPECT_NEAR(Deviation(vector("to_q.bias")), 0.1, 0.01);
  EXPECT_NEAR(Deviation(RandomWeight("scale_shift_table", {6, 512}, 1, kFloat)), 0.1, 0.01);
  const double convolution = Deviation(RandomWeight("conv.weight", {64, 16, 3, 3, 3}, 1, kFloat));
  EXPECT_NEAR(convolution * std::sqrt(16 * 27), 1, 0.02);
}

TEST(RandomWeight, IsEqualForASeedAndANameAlone) {
  EXPECT_TRUE(Matrix("a").equal(Matrix("a")));
  for (const at::Tensor& other : {Matrix("b"), Matrix("a", 2), Matrix("a", uint64_t{1} << 32)}) {
    const double correlation = Mean(Matrix("a") * other) * 400;
    EXPECT_NEAR(correlation, 0, 0.02);
  }
}

TEST(RandomWeight, HasNoValuesOnADeviceWithoutMemory) {
  const at::Tensor made = RandomWeight("a", {1 << 20, 1 << 12}, 1, kFloat.device(at::kMeta));
  EXPECT_EQ(made.sizes(), at::IntArrayRef({1 << 20, 1 << 12}));
}

// What is made at once has a bound, and no seam.
TEST(RandomWeight, GoesOnBehindABound) {
  const at::Tensor longer = RandomWeight("a", {3, 1 << 21}, 1, kFloat);
  EXPECT_NEAR(Deviation(longer.slice(0, 2)) * (1 << 21), std::sqrt(1 << 21), 3);
  EXPECT_FALSE(longer[0].equal(longer[2]));
}

}  // namespace
}  // namespace reel::model
