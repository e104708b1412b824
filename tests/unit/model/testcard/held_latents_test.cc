// SPDX-License-Identifier: Apache-2.0
// Extensions and retakes of the test card: frames that they hold are their source's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/continued_spec.h"
#include "model/resolve.h"
#include "model/testcard/clip_codes.h"
#include "model/testcard/test_card.h"
#include "tests/unit/model/testcard/all_frames.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

class TestCardHeldTest : public ::testing::Test {
 protected:
  TestCardHeldTest() {
    TestCardOptions options;
    options.step_time = options.step_time_per_extra_job = options.decode_time_per_frame =
        absl::ZeroDuration();
    pipeline_ = *MakeTestCard("testcard", options);
    GenerationSpec spec;
    spec.prompt = "a fox";
    spec.width = 128;
    spec.height = 96;
    spec.num_frames = 49;
    source_ = Resolved(spec);
  }
  GenerationSpec Resolved(const GenerationSpec& sent) const {
    const Resolution resolved = Resolve(sent, pipeline_->card(), RequestLimits(), 7);
    EXPECT_TRUE(resolved.ok()) << resolved.violations[0].description;
    return resolved.spec;
  }
  GenerationSpec From(const GenerationSpec& video, Source source) const {
    GenerationSpec spec;
    spec.prompt = "an owl";
    spec.source = std::move(source);
    EXPECT_TRUE(FillContinued(video, spec).empty());
    return Resolved(spec);
  }
  // Each frame by itself.
  std::vector<std::vector<std::byte>> Frames(const PassState* made, const GenerationSpec& spec,
                                             PassState& left) {
    auto generation =
        made == nullptr ? pipeline_->Create(spec, run_) : pipeline_->CreateFrom(spec, *made, run_);
    EXPECT_TRUE(generation.ok()) << generation.status();
    if (!generation.ok()) return {};
    left = *pipeline_->State(**generation);
    AllFrames all;
    while (!*pipeline_->DecodeNext(**generation, all, run_)) {
    }
    std::vector<std::vector<std::byte>> frames;
    const size_t size = all.bytes.size() / static_cast<size_t>(all.num_frames);
    for (size_t at = 0; at < all.bytes.size(); at += size) {
      frames.emplace_back(all.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                          all.bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    }
    return frames;
  }

  std::unique_ptr<Pipeline> pipeline_;
  kernels::KernelPlan plan_;
  kernels::KernelCounters counters_;
  const kernels::Execution run_{plan_, counters_, nullptr, {}};
  GenerationSpec source_;
  PassState made_, left_;
};

TEST_F(TestCardHeldTest, ARetakeShowsTheSourceOutsideItsStretch) {
  const auto source = Frames(nullptr, source_, made_);
  Source retake{.begin = Source::Begin::kRetake};
  retake.retake = {.begin = 9.0 / 24, .end = 17.0 / 24};
  const auto frames = Frames(&made_, From(source_, retake), left_);
  ASSERT_EQ(frames.size(), 49U);
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i] == source[i], i < 9 || i >= 17) << i;
  }
}

TEST_F(TestCardHeldTest, AnExtensionBeginsWithTheSourcesLastFramesAndCanBeExtended) {
  const auto source = Frames(nullptr, source_, made_);
  Source extend{.begin = Source::Begin::kExtend};
  extend.extend = {.num_frames = 16, .overlap_frames = 25};
  const GenerationSpec spec = From(source_, extend);
  const auto once = Frames(&made_, spec, left_);
  ASSERT_EQ(once.size(), 41U);
  for (size_t i = 0; i < 25; ++i) EXPECT_EQ(once[i], source[24 + i]) << i;
  EXPECT_NE(once[25], source[48]);
  const PassState of_once = left_;
  const auto twice = Frames(&of_once, From(spec, extend), left_);
  for (size_t i = 0; i < 25; ++i) EXPECT_EQ(twice[i], once[16 + i]) << i;
}

TEST_F(TestCardHeldTest, RefusesLatentsThatAreNoTestCards) {
  Frames(nullptr, source_, made_);
  Source retake{.begin = Source::Begin::kRetake};
  retake.retake = {.begin = 0, .end = 1};
  const GenerationSpec spec = From(source_, retake);
  PassState cut = made_;
  cut.tensors[PassState::kLatents].bytes.pop_back();
  PassState brief = made_;
  brief.tensors[PassState::kLatents] = TensorOf(ClipCodes(3));
  for (const PassState& spoilt : {PassState(), cut, brief}) {
    const auto refused = pipeline_->CreateFrom(spec, spoilt, run_);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_THAT(std::string(pipeline_->CreateFrom(spec, brief, run_).status().message()),
              HasSubstr("3 latents instead of 7"));
}

}  // namespace
}  // namespace reel::model
