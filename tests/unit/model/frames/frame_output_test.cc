// SPDX-License-Identifier: Apache-2.0
#include "model/frames/frame_output.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/frames/collecting_sink.h"

namespace reel::model {
namespace {

absl::Status Pushed(const at::Tensor& pictures, CollectingSink& kept) {
  const TestRun test;
  return PushFrames(Ops(test.run), pictures, kept);
}

TEST(FrameOutput, PicturesBecomeFramesWhoseColoursAreCutToTheirRange) {
  at::Tensor pictures = at::zeros({1, 3, 2, 4, 6});
  pictures.select(1, 0).fill_(3);
  pictures.select(1, 2).fill_(-1);
  CollectingSink kept;
  ASSERT_TRUE(Pushed(pictures, kept).ok());
  EXPECT_EQ(kept.width, 6);
  EXPECT_EQ(kept.height, 4);
  EXPECT_EQ(kept.num_frames, 2);
  const at::Tensor values = kept.Values();
  ASSERT_EQ(values.numel(), 2 * 4 * 6 * 3);
  EXPECT_EQ(values[0].item<float>(), 1);
  EXPECT_EQ(values[1].item<float>(), 0.5);
  EXPECT_EQ(values[2].item<float>(), 0);
}

TEST(FrameOutput, OneBadNumberAnywhereLetsNothingOut) {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    at::Tensor pictures = at::zeros({1, 3, 2, 4, 6});
    pictures[0][1][1][3][5] = bad;
    CollectingSink kept;
    EXPECT_EQ(Pushed(pictures, kept).code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(kept.data.empty());
  }
}

TEST(FrameOutput, ScaledPicturesKeepTheirColours) {
  const at::Tensor scaled = Scaled(at::full({1, 3, 2, 4, 6}, 0.25), 9, 5);
  ASSERT_EQ(scaled.sizes(), at::IntArrayRef({1, 3, 2, 5, 9}));
  EXPECT_TRUE(at::allclose(scaled, at::full_like(scaled, 0.25)));
}

}  // namespace
}  // namespace reel::model
