// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/work_shape.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

TEST(WorkShape, HasTheStepsAndTheFramesOfAClipThatIsRefined) {
  model::ModelCard card;
  card.presets = {{"twice",
                   {},
                   {{.steps = 8, .sides = {1, 2}},
                    {.steps = 3, .sides = {2, 1}, .guided = false, .timesteps = {900, 700, 400}}}}};
  model::GenerationSpec spec;
  spec.preset = "twice";
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 121;
  spec.frame_rate = 24;
  spec.denoise_strength = 0.5;
  spec.conditions.resize(1);
  spec.conditions[0].kind = model::Condition::Kind::kVideo;
  spec.conditions[0].use = model::Condition::Use::kRefine;
  const WorkShape shape = ShapeOf(spec, card, "auto");
  ASSERT_EQ(shape.passes.size(), 1u);
  EXPECT_EQ(shape.steps(), 2) << "of the second pass alone, below that noise";
  EXPECT_EQ(shape.rows(), 16 * 24 * 16);
  EXPECT_EQ(shape.condition_pixels, int64_t{384} * 256 * 121);
  EXPECT_EQ(shape.encoded_pixels, int64_t{384} * 256 * 123);
  card.memory = {.step_row = 1, .frame_pixel = 1};
  EXPECT_EQ(ShapeOf(spec, card, "auto").memory_formula, 768 * 512) << "steps, then the decode";
  spec.num_frames = 481;
  const WorkShape windows = ShapeOf(spec, card, "auto");
  EXPECT_EQ(windows.steps(), 4) << "of two windows";
  EXPECT_EQ(windows.memory_formula, 768 * 512 + windows.rows()) << "frames leave between them";
  card.memory = {.encode_pixel = 2, .upsample_token = 1};
  EXPECT_EQ(windows.encoded_pixels, int64_t{384} * 256 * 155) << "20 latents at a time";
  EXPECT_EQ(ShapeOf(spec, card, "auto").memory_formula, 2 * windows.encoded_pixels);
}

TEST(WorkShape, OfAReferenceCountsItsTokensInEveryStepAndItsFramesForTheEncoder) {
  model::ModelCard card = model::ModelCard();
  card.takes_references = true;
  card.adapters = {
      {.name = "pose", .sha256 = "s", .rank = 16, .reference = model::ReferenceScale{2, 1}}};
  model::GenerationSpec spec;
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 121;
  spec.num_inference_steps = 8;
  spec.adapters = {{"pose", 1}};
  spec.conditions.resize(1);
  spec.conditions[0].kind = model::Condition::Kind::kVideo;
  spec.conditions[0].use = model::Condition::Use::kReference;
  const WorkShape shape = ShapeOf(spec, card, "auto");
  EXPECT_EQ(shape.tokens(), 16 * (24 * 16 + 12 * 8));
  EXPECT_EQ(shape.condition_pixels, int64_t{384} * 256 * 121);
}

}  // namespace
}  // namespace reel::front
