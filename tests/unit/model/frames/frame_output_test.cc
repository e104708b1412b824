// SPDX-License-Identifier: Apache-2.0
#include "model/frames/frame_output.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

class KeptFrames : public FrameSink {
 public:
  FrameFormat format() const override { return FrameFormat::kRgbF32; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const FramesView& frames) override {
    width = frames.width;
    height = frames.height;
    num_frames = frames.num_frames;
    values.resize(frames.data.size() / sizeof(float));
    std::memcpy(values.data(), frames.data.data(), frames.data.size());
    return absl::OkStatus();
  }

  int width = 0, height = 0, num_frames = 0;
  std::vector<float> values;
};

absl::Status Pushed(const at::Tensor& pictures, KeptFrames& kept) {
  const auto& device = *DeviceUnderTest();
  kernels::KernelCounters counters;
  const kernels::KernelPlan plan = *device.catalog.Plan("auto", {});
  const kernels::Execution run{plan, counters, nullptr, device.stream};
  return PushFrames(Ops(run), pictures, kept);
}

TEST(FrameOutput, PicturesBecomeFramesWhoseColoursAreCutToTheirRange) {
  at::Tensor pictures = at::zeros({1, 3, 2, 4, 6});
  pictures.select(1, 0).fill_(3);
  pictures.select(1, 2).fill_(-1);
  KeptFrames kept;
  ASSERT_TRUE(Pushed(pictures, kept).ok());
  EXPECT_EQ(kept.width, 6);
  EXPECT_EQ(kept.height, 4);
  EXPECT_EQ(kept.num_frames, 2);
  ASSERT_EQ(kept.values.size(), 2u * 4 * 6 * 3);
  EXPECT_EQ(kept.values[0], 1);
  EXPECT_EQ(kept.values[1], 0.5);
  EXPECT_EQ(kept.values[2], 0);
}

TEST(FrameOutput, OneBadNumberAnywhereLetsNothingOut) {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    at::Tensor pictures = at::zeros({1, 3, 2, 4, 6});
    pictures[0][1][1][3][5] = bad;
    KeptFrames kept;
    EXPECT_EQ(Pushed(pictures, kept).code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(kept.values.empty());
  }
}

TEST(FrameOutput, ScaledPicturesKeepTheirColours) {
  const at::Tensor scaled = Scaled(at::full({1, 3, 2, 4, 6}, 0.25), 9, 5);
  ASSERT_EQ(scaled.sizes(), at::IntArrayRef({1, 3, 2, 5, 9}));
  EXPECT_TRUE(at::allclose(scaled, at::full_like(scaled, 0.25)));
}

}  // namespace
}  // namespace reel::model
