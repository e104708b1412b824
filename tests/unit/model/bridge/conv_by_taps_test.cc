// SPDX-License-Identifier: Apache-2.0
// Convolutions of a decoder on a CPU, frame by frame, over several frames at a time.
#include "model/bridge/conv_by_taps.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/bridge/framework_variants.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

struct PictureSize {
  int64_t channels, outputs, rows, columns;
};

class ConvByTaps : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device_.is_cpu()) GTEST_SKIP() << "SKIPPED: it is of a CPU";
    if (!at::hasMKLDNN()) GTEST_SKIP() << "SKIPPED: this libtorch has no oneDNN";
  }

  at::Tensor Values(at::IntArrayRef shape) { return at::randn(shape, generator_); }
  void Draw(const PictureSize& size, int64_t frames) {
    x_ = Values({1, size.channels, frames + 2, size.rows, size.columns})
             .contiguous(at::MemoryFormat::ChannelsLast3d);
    weight_ = Values({size.outputs, size.channels, 3, 3, 3});
    bias_ = Values({size.outputs});
    taps_ = aten::TapsOf(weight_);
  }

  at::Tensor Convolved(const at::Tensor& x, const std::string& name = "", int64_t row_padding = 1) {
    return ByVariant("conv3d", name, ran_, [&](const Ops& ops) {
      return ops.Conv3d(x, weight_, bias_, {1, 1, 1}, {0, row_padding, 1}, &taps_);
    });
  }

  at::Generator generator_ = at::detail::createCPUGenerator(5);
  at::Tensor x_, weight_, bias_;
  aten::FrameTaps taps_;
  std::string ran_;
};

constexpr PictureSize kSizes[] = {{16, 16, 24, 40},  {16, 48, 64, 64}, {3, 5, 7, 9},
                                  {64, 256, 16, 16}, {20, 33, 5, 8},   {128, 128, 8, 8}};

TEST_F(ConvByTaps, IsTheConvolutionOverTime) {
  for (const PictureSize& size : kSizes) {
    Draw(size, 4);
    for (const int64_t row_padding : {0, 1}) {
      const at::Tensor made = Convolved(x_, "", row_padding);
      EXPECT_EQ(ran_, kTapsVariant);
      const at::Tensor exact =
          at::conv3d(x_.to(at::kDouble), weight_.to(at::kDouble), bias_.to(at::kDouble),
                     at::IntArrayRef({1, 1, 1}), at::IntArrayRef({0, row_padding, 1}));
      ASSERT_EQ(made.sizes(), exact.sizes());
      EXPECT_LT(DistanceOf(made, exact), 1e-6) << size.channels << " to " << size.outputs;
    }
  }
}

// As the pieces of a decode are.
TEST_F(ConvByTaps, AFrameHasTheSameBitsHoweverManyComeWithIt) {
  for (const std::string& variant : {std::string(kTapsVariant), std::string(kAtenVariant)}) {
    for (const PictureSize& size : kSizes) {
      Draw(size, 7);
      const at::Tensor all = Convolved(x_, variant);
      for (int64_t first = 0; first < 7; ++first) {
        for (int64_t count = 1; count <= 7 - first; ++count) {
          const at::Tensor some = Convolved(x_.slice(2, first, first + count + 2), variant);
          EXPECT_TRUE(some.equal(all.slice(2, first, first + count)))
              << ran_ << ", " << size.channels << " to " << size.outputs << ", " << count
              << " from " << first;
        }
      }
    }
  }
}

TEST_F(ConvByTaps, TakesFramesHoweverTheyLieInMemory) {
  Draw(kSizes[0], 3);
  const at::Tensor expected = Convolved(x_);
  EXPECT_TRUE(Convolved(x_.contiguous()).equal(expected));
  EXPECT_TRUE(Convolved(x_.transpose(1, 2).contiguous().transpose(1, 2)).equal(expected));
}

TEST_F(ConvByTaps, LeavesTheRestToLibtorch) {
  Draw(kSizes[0], 3);
  EXPECT_THAT(aten::TapsOf(weight_.to(at::kBFloat16)).packed, ::testing::IsEmpty());
  EXPECT_THAT(aten::TapsOf(at::empty({512, 512, 3, 3, 3})).packed, ::testing::IsEmpty()) << "28 MB";
  taps_.packed.clear();
  Convolved(x_);
  EXPECT_EQ(ran_, kAtenVariant);
}

}  // namespace
}  // namespace reel::model
