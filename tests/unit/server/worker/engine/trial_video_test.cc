// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/trial_video.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "model/testcard/test_card.h"

namespace reel::worker {
namespace {

absl::Status MakeAll(absl::StatusOr<TrialVideo> video) {
  if (!video.ok()) return video.status();
  for (;;) {
    const auto last = video->Next();
    if (!last.ok() || *last) return last.status();
  }
}

absl::Status RunCanary(model::Pipeline& pipeline) {
  const kernels::KernelCatalog catalog;
  const model::RequestLimits limits;
  return MakeAll(TrialVideo::Canary({pipeline, catalog, {}, limits}));
}

std::unique_ptr<model::Pipeline> FaultyCard(const std::string& kind) {
  model::TestCardOptions options;
  options.step_time = options.decode_time_per_frame = absl::ZeroDuration();
  if (!kind.empty()) options.faults = {{.kind = kind, .step = 1, .prompt_contains = ""}};
  return *model::MakeTestCard("card", options);
}

TEST(Canary, PassesByAModelThatMakesItsVideo) { EXPECT_TRUE(RunCanary(*FaultyCard("")).ok()); }

TEST(Canary, TellsWhatTheModelGotWrong) {
  EXPECT_TRUE(absl::IsDataLoss(RunCanary(*FaultyCard("nan"))));
  EXPECT_TRUE(absl::IsResourceExhausted(RunCanary(*FaultyCard("oom"))));
  EXPECT_TRUE(absl::IsAborted(RunCanary(*FaultyCard("sticky"))));
}

TEST(WarmUp, IsOfItsSizeWithTwoSteps) {
  const kernels::KernelCatalog catalog;
  const model::RequestLimits limits;
  const auto card = FaultyCard("");
  auto video = TrialVideo::WarmUp({*card, catalog, {}, limits}, {128, 96, 9});
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->spec().width, 128);
  EXPECT_EQ(video->spec().height, 96);
  EXPECT_EQ(video->spec().num_frames, 9);
  EXPECT_EQ(video->spec().num_inference_steps, 2);
  EXPECT_TRUE(MakeAll(*std::move(video)).ok());
}

TEST(WarmUp, WithoutASizeIsOfTheModelsDefault) {
  const kernels::KernelCatalog catalog;
  const model::RequestLimits limits;
  const auto card = FaultyCard("");
  auto video = TrialVideo::WarmUp({*card, catalog, {}, limits}, {});
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->spec().width, card->card().defaults.width);
  EXPECT_EQ(video->spec().num_frames, card->card().defaults.num_frames);
}

TEST(WarmUp, NamesWhatTheModelRefuses) {
  const kernels::KernelCatalog catalog;
  const model::RequestLimits limits;
  const auto card = FaultyCard("");
  const auto video = TrialVideo::WarmUp({*card, catalog, {}, limits}, {130, 96, 9});
  EXPECT_TRUE(absl::IsFailedPrecondition(video.status()));
  EXPECT_NE(video.status().message().find("width"), std::string::npos) << video.status();
}

TEST(Canary, FramesMustBeFinite) {
  TrialFrames sink(model::FrameFormat::kRgbF32);
  std::array<float, 6> pixels = {0, 0.5F, 1, 0, 0, 0};
  const auto push = [&] {
    return sink.Push({.format = sink.format(),
                      .width = 2,
                      .height = 1,
                      .num_frames = 1,
                      .data = absl::MakeConstSpan(reinterpret_cast<const std::byte*>(pixels.data()),
                                                  sizeof pixels)});
  };
  EXPECT_TRUE(push().ok());
  pixels[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(absl::IsDataLoss(push()));
  pixels[5] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(absl::IsDataLoss(push()));
  EXPECT_EQ(sink.count(), 1);
}

}  // namespace
}  // namespace reel::worker
