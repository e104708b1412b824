// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/guidance.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

// Rows of two tokens with one channel each.
at::Tensor Rows(const std::vector<float>& values) { return at::tensor(values).reshape({-1, 2, 1}); }

TEST(Guidance, OneRowIsTheAnswer) {
  const at::Tensor alone = Rows({1, 2});
  EXPECT_TRUE(at::equal(Guide(alone, {}, false), alone));
}

TEST(Guidance, GoesAwayFromTheNegativePrompt) {
  const at::Tensor guided = Guide(Rows({1, 1, 2, 3}), {.scale = 3}, false);
  EXPECT_TRUE(at::equal(guided, Rows({4, 7})));
}

TEST(Guidance, GoesAwayFromThePerturbedRow) {
  const at::Tensor guided = Guide(Rows({2, 3, 1, 1}), {.perturbed_scale = 2, .blocks = {1}}, false);
  EXPECT_TRUE(at::equal(guided, Rows({4, 7})));
}

TEST(Guidance, StarScalesTheNegativeToFitThePrompt) {
  // The prompt's answer is twice the negative's: nothing is left to go away from.
  const at::Tensor guided = Guide(Rows({1, 2, 2, 4}), {.scale = 5}, true);
  EXPECT_TRUE(at::allclose(guided, Rows({2, 4})));
}

TEST(Guidance, RescalingGivesBackTheDeviationOfThePrompt) {
  const at::Tensor rows = Rows({0, 0, 1, 3});
  const at::Tensor guided = Guide(rows, {.scale = 4, .rescale = 1}, false);
  EXPECT_NEAR(at::std(guided).item<float>(), at::std(rows.slice(0, 1)).item<float>(), 1e-6);
}

TEST(DeltaGuidance, ThePromptAloneIsTheAnswer) {
  const CleanLatents clean = {.prompt = Rows({1, 2})};
  const DeltaGuidance by = {.scale = 7, .perturbed_scale = 2, .isolated_scale = 3};
  EXPECT_TRUE(at::equal(GuideByDeltas(clean, by), Rows({1, 2})));
}

TEST(DeltaGuidance, GoesAwayFromEachRowByItsOwnScale) {
  const at::Tensor prompt = Rows({2, 3});
  const DeltaGuidance by = {.scale = 3, .perturbed_scale = 10, .isolated_scale = 101};
  EXPECT_TRUE(at::equal(GuideByDeltas({prompt, Rows({1, 1})}, by), Rows({4, 7})));
  EXPECT_TRUE(at::equal(GuideByDeltas({prompt, {}, Rows({1, 1})}, by), Rows({12, 23})));
  EXPECT_TRUE(at::equal(GuideByDeltas({prompt, {}, {}, Rows({1, 1})}, by), Rows({102, 203})));
  EXPECT_TRUE(at::equal(GuideByDeltas({prompt, Rows({1, 1}), Rows({1, 1}), Rows({1, 1})}, by),
                        Rows({114, 227})));
}

TEST(DeltaGuidance, RescalingGivesBackTheDeviationOfThePrompt) {
  const CleanLatents clean = {.prompt = Rows({1, 3}), .negative = Rows({0, 0})};
  const at::Tensor guided = GuideByDeltas(clean, {.scale = 4, .rescale = 1});
  EXPECT_NEAR(at::std(guided).item<float>(), at::std(clean.prompt).item<float>(), 1e-6);
}

TEST(Guidance, APointHoldsFromItsSigmaOn) {
  const Guidance guidance = {.points = {{.scale = 1}, {.scale = 4}, {.perturbed_scale = 1}},
                             .from = {0.9, 0.5, 0}};
  EXPECT_EQ(guidance.At(1.0).scale, 1);
  EXPECT_EQ(guidance.At(0.9).scale, 1);
  EXPECT_EQ(guidance.At(0.7).scale, 4);
  EXPECT_TRUE(guidance.At(0.1).uses_perturbed());
  EXPECT_EQ(guidance.most_rows(), 2);
  EXPECT_TRUE(guidance.uses_negative());
}

}  // namespace
}  // namespace reel::model
