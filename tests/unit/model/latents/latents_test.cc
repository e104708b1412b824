// SPDX-License-Identifier: Apache-2.0
#include "model/latents/latents.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

TEST(Latents, TokensAreOrderedByFrameRowAndColumn) {
  const LatentShape shape = {2, 3, 4};
  const at::Tensor grid = at::arange(2 * shape.tokens(), at::kFloat).view({1, 2, 2, 3, 4});
  const at::Tensor tokens = PackLatents(grid);
  ASSERT_EQ(tokens.sizes(), at::IntArrayRef({1, 24, 2}));
  EXPECT_TRUE(
      at::equal(tokens[0][1 * 12 + 2 * 4 + 3], grid[0].select(1, 1).select(1, 2).select(1, 3)));
  EXPECT_TRUE(at::equal(UnpackLatents(tokens, shape), grid));
}

TEST(Latents, NoisedTheyLieBetweenLatentsAndNoise) {
  const at::Tensor latents = at::full({1, 2, 1, 2, 2}, 1.0), noise = at::full({1, 2, 1, 2, 2}, 5.0);
  EXPECT_TRUE(at::equal(Noised(latents, noise, 0), latents));
  EXPECT_TRUE(at::equal(Noised(latents, noise, 0.25), at::full_like(latents, 2)));
  EXPECT_TRUE(at::equal(Noised(latents, noise, 1), noise));
}

TEST(Latents, NormalisedAndBackTheyAreWhatTheyWereButForTheScalingFactor) {
  const LatentStatistics statistics = {at::full({1, 2, 1, 1, 1}, 3.0),
                                       at::full({1, 2, 1, 1, 1}, 4.0), 2};
  const at::Tensor grid = at::randn({1, 2, 2, 3, 4});
  const at::Tensor normalised = statistics.Normalize(grid);
  EXPECT_TRUE(at::allclose(normalised, (grid - 3) / 4));
  EXPECT_TRUE(at::allclose(statistics.Denormalize(normalised * 2), grid, 1e-5, 1e-5));
  EXPECT_EQ(statistics.Normalize(grid.to(at::kBFloat16)).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace reel::model
