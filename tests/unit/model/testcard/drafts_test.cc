// SPDX-License-Identifier: Apache-2.0
// Drafts of the test card and their promotions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/resolve.h"
#include "model/testcard/picture_code.h"
#include "model/testcard/test_card.h"
#include "tests/unit/model/testcard/all_frames.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TestCardDraftsTest : public ::testing::Test {
 protected:
  TestCardDraftsTest() {
    TestCardOptions options;
    options.step_time = options.step_time_per_extra_job = options.decode_time_per_frame =
        absl::ZeroDuration();
    pipeline_ = *MakeTestCard("testcard", options);
  }
  GenerationSpec Spec(std::optional<int> stop_after_pass = {}) const {
    GenerationSpec spec;
    spec.prompt = "a fox";
    spec.preset = "two-pass";
    spec.stop_after_pass = stop_after_pass;
    const Resolution resolved = Resolve(spec, pipeline_->card(), RequestLimits(), 7);
    EXPECT_TRUE(resolved.ok()) << resolved.violations[0].description;
    return resolved.spec;
  }
  GenerationSpec Promotion() const {
    GenerationSpec spec = Spec();
    spec.source = Source{.video = "videos/v", .begin = Source::Begin::kPromote};
    return spec;
  }
  // The rows of each step.
  std::vector<int64_t> Steps(Generation& generation) {
    std::vector<int64_t> rows;
    EXPECT_TRUE(*pipeline_->BeginNext(generation, run_));
    while (generation.step() < generation.num_steps()) {
      rows.push_back(generation.rows());
      Generation* const stepped = &generation;
      EXPECT_TRUE(pipeline_->Step({&stepped, 1}, run_)[0].ok());
    }
    return rows;
  }
  AllFrames Decoded(Generation& generation) {
    AllFrames frames;
    while (!*pipeline_->DecodeNext(generation, frames, run_)) {
    }
    return frames;
  }

  std::unique_ptr<Pipeline> pipeline_;
  kernels::KernelPlan plan_;
  kernels::KernelCounters counters_;
  const kernels::Execution run_{plan_, counters_, nullptr, {}};
};

TEST_F(TestCardDraftsTest, ItsTwoPassesDifferInSizeAndRows) {
  const auto whole = *pipeline_->Create(Spec(), run_);
  // 4 latent frames of 4x3, with guidance; then of 8x6 without.
  EXPECT_THAT(Steps(*whole), ElementsAre(96, 96, 96, 96, 192, 192));
}

TEST_F(TestCardDraftsTest, ADraftIsTheVideoOfItsFirstPassAtThatSize) {
  const auto draft = *pipeline_->Create(Spec(1), run_);
  EXPECT_THAT(Steps(*draft), ElementsAre(96, 96, 96, 96));
  const AllFrames frames = Decoded(*draft);
  EXPECT_EQ(frames.width, 128);
  EXPECT_EQ(frames.height, 96);
  EXPECT_EQ(frames.num_frames, 25);
  const auto* first = reinterpret_cast<const uint8_t*>(frames.bytes.data());
  EXPECT_EQ(DecodeCode({first, size_t{128} * 96}, 128, 128, 96),
            (PictureCode{PictureHash("a fox", 7, 128, 96), 0}));
}

TEST_F(TestCardDraftsTest, APromotionMakesTheRestAndEqualsTheWholeVideo) {
  const auto draft = *pipeline_->Create(Spec(1), run_);
  Steps(*draft);
  const auto made = pipeline_->State(*draft);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->passes, 1);
  const auto promoted = pipeline_->CreateFrom(Promotion(), *made, run_);
  ASSERT_TRUE(promoted.ok()) << promoted.status();
  EXPECT_THAT(Steps(**promoted), ElementsAre(192, 192));
  const auto whole = *pipeline_->Create(Spec(), run_);
  Steps(*whole);
  EXPECT_EQ(*pipeline_->State(**promoted), *pipeline_->State(*whole));
  EXPECT_EQ(pipeline_->State(*whole)->passes, 2);
  EXPECT_EQ(Decoded(**promoted).bytes, Decoded(*whole).bytes);
}

TEST_F(TestCardDraftsTest, RefusesTheStateOfAnotherVideo) {
  const auto draft = *pipeline_->Create(Spec(1), run_);
  Steps(*draft);
  GenerationSpec other = Promotion();
  other.seed = 8;
  const auto refused = pipeline_->CreateFrom(other, *pipeline_->State(*draft), run_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("another test card"));
  EXPECT_FALSE(pipeline_->CreateFrom(Promotion(), {}, run_).ok());
}

}  // namespace
}  // namespace reel::model
