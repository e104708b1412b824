// SPDX-License-Identifier: Apache-2.0
// The sampler res_2s, where its answers are known.
#include "model/ltx2/res_2s.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ::testing::ElementsAre;

TEST(Res2s, StepsToASmallSigmaBeforeZero) {
  const Schedule schedule = WithoutStepToZero({.timesteps = {1000, 500}, .sigmas = {1, 0.5f, 0}});
  EXPECT_THAT(schedule.sigmas, ElementsAre(1, 0.5f, 0.0011f, 0));
  EXPECT_THAT(schedule.timesteps, ElementsAre(1000, 500, 1.1f));
}

TEST(Res2s, NoiseHasNoMeanAndTheDeviationOne) {
  at::Generator generator = at::detail::createCPUGenerator(3);
  const at::Tensor noise = StandardNoise({1, 5, 3}, generator);
  EXPECT_EQ(noise.scalar_type(), at::kDouble);
  EXPECT_NEAR(noise.mean().item<double>(), 0, 1e-15);
  EXPECT_NEAR(noise.std().item<double>(), 1, 1e-15);
}

// Both directions of a straight way weigh as much as the way is long.
TEST(Res2s, WeightsOfAStepSumToItsLength) {
  const Res2sStep step(0.8, 0.2);
  EXPECT_DOUBLE_EQ(step.middle, 0.4);
  EXPECT_NEAR(step.h * (step.first + step.second), 1 - 0.2 / 0.8, 1e-14);
  EXPECT_NEAR(step.h * step.to_middle, 1 - 0.4 / 0.8, 1e-14);
}

// What has no noise stays as it is, but for what is added.
TEST(Res2s, CleanLatentsOnlyGetNoise) {
  const Res2sStep step(0.8, 0.2);
  const at::Tensor clean = Draw(1, {1, 5, 3}).to(at::kDouble);
  Res2sStream stream(step, clean, clean);
  const at::Tensor none = at::zeros_like(clean), ones = at::ones_like(clean);
  const double kept = std::sqrt(0.4 * 0.4 - 0.2 * 0.2);
  EXPECT_TRUE(at::allclose(stream.Middle(none), clean * (1 - 0.4 + kept)));
  const at::Tensor end = stream.End(clean, none);
  EXPECT_TRUE(at::allclose(stream.End(clean, ones), end + 0.1));
}

}  // namespace
}  // namespace reel::model::ltx2
