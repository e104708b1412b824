// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/canary.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "model/testcard/test_card.h"

namespace reel::worker {
namespace {

absl::Status RunCanary(model::Pipeline& pipeline) {
  const kernels::KernelCatalog catalog;
  auto canary = Canary::Make(pipeline, catalog, {}, model::RequestLimits());
  if (!canary.ok()) return canary.status();
  for (;;) {
    const auto last = canary->Next();
    if (!last.ok() || *last) return last.status();
  }
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

TEST(Canary, FramesMustBeFinite) {
  FiniteFrames sink;
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
