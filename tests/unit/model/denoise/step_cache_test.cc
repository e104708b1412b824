// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_cache.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

const GuidancePoint kGuided = {.scale = 3};

StepCache Filled() {
  StepCache cache({.threshold = 0.2, .most_reused = 2});
  cache.Keep(kGuided, at::ones({2, 3, 4}), at::full({2, 3, 4}, 5.0));
  return cache;
}

TEST(StepCache, HasNothingBeforeAFullStep) {
  EXPECT_FALSE(StepCache({.threshold = 0.2, .most_reused = 2}).Has(kGuided));
}

TEST(StepCache, TellsTheRelativeChangeOfTheFirstBlock) {
  const StepCache cache = Filled();
  const double change = cache.ChangeOf(at::full({2, 3, 4}, 1.125)).item<float>();
  EXPECT_NEAR(change, 0.125, 1e-6);
  EXPECT_TRUE(cache.Allows(change));
  EXPECT_FALSE(cache.Allows(0.2));
  EXPECT_TRUE(at::equal(cache.others(), at::full({2, 3, 4}, 5.0)));
}

TEST(StepCache, AFirstBlockThatAddedNothingAllowsNothing) {
  StepCache cache({.threshold = 0.2, .most_reused = 2});
  cache.Keep(kGuided, at::zeros({1, 2, 3}), at::zeros({1, 2, 3}));
  EXPECT_FALSE(cache.Allows(cache.ChangeOf(at::zeros({1, 2, 3})).item<float>()));
}

TEST(StepCache, IsReusedAtMostSoManyTimesInARow) {
  StepCache cache = Filled();
  cache.Reused();
  EXPECT_TRUE(cache.Has(kGuided));
  cache.Reused();
  EXPECT_FALSE(cache.Has(kGuided));
  cache.Keep(kGuided, at::ones({2, 3, 4}), at::ones({2, 3, 4}));
  EXPECT_TRUE(cache.Has(kGuided));
  EXPECT_EQ(cache.reused_steps(), 2);
}

TEST(StepCache, ServesStepsWithTheSameRowsAlone) {
  const StepCache cache = Filled();
  EXPECT_TRUE(cache.Has({.scale = 7}));
  EXPECT_FALSE(cache.Has({}));
  EXPECT_FALSE(cache.Has({.scale = 3, .perturbed_scale = 1, .blocks = {0}}));
}

TEST(StepCache, ForgottenItHoldsNoMemory) {
  StepCache cache = Filled();
  EXPECT_TRUE(cache.first().defined() && cache.others().defined());
  cache.Forget();
  EXPECT_FALSE(cache.first().defined() || cache.others().defined());
  EXPECT_FALSE(cache.Has(kGuided));
}

}  // namespace
}  // namespace reel::model
