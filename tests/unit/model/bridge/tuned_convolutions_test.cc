// SPDX-License-Identifier: Apache-2.0
// The decoder's convolutions of the sizes that the table of plans has, on a GPU that it was made
// for.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "model/bridge/cublaslt_variant.h"
#include "model/bridge/framework_variants.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

// Of what comes out.
struct ConvSize {
  int64_t channels, outputs, frames, rows, columns;
};

class TunedConvolutionsOfTheDecoder : public GpuTest {
 protected:
  at::Tensor Values(at::IntArrayRef shape, at::ScalarType type = at::kBFloat16) {
    return at::randn(shape, generator_, at::TensorOptions(at::kFloat))
        .to(device_, type)
        .contiguous(at::MemoryFormat::ChannelsLast3d);
  }
  void Draw(const ConvSize& size, at::ScalarType type = at::kBFloat16) {
    x_ = Values({1, size.channels, size.frames + 2, size.rows, size.columns}, type);
    weight_ = Values({size.outputs, size.channels, 3, 3, 3}, type);
  }

  // By what "auto" takes, or the variant of that name; `ran_` is which one it was.
  at::Tensor Convolved(const std::string& name = "", const at::Tensor& bias = {},
                       int64_t row_padding = 1) {
    return ByVariant("conv3d", name, ran_, [&](const Ops& ops) {
      return ops.Conv3d(x_, weight_, bias, {1, 1, 1}, {0, row_padding, 1});
    });
  }

  // Of what is rounded nowhere on the way.
  at::Tensor Exact() const {
    return at::conv3d(x_.to(at::kFloat), weight_.to(at::kFloat), {}, at::IntArrayRef({1, 1, 1}),
                      at::IntArrayRef({0, 1, 1}));
  }

  // Whether this device and its library are those of the table.
  bool HasTable() {
    Draw({1024, 1024, 4, 8, 8});
    Convolved();
    return ran_ == kTunedVariant;
  }

  at::Generator generator_ = at::detail::createCPUGenerator(5);
  at::Tensor x_, weight_;
  std::string ran_;
};

TEST_F(TunedConvolutionsOfTheDecoder, AreAsExactAsTheLibrarysOwnChoice) {
  if (!HasTable()) GTEST_SKIP() << "SKIPPED: the table is of another GPU or cuDNN";
  for (const ConvSize& size : {ConvSize{128, 1024, 4, 8, 8},
                               {128, 1024, 7, 16, 24},
                               {128, 1024, 16, 16, 24},
                               {1024, 1024, 4, 8, 8},
                               {1024, 1024, 7, 16, 24},
                               {1024, 4096, 4, 8, 8},
                               {1024, 4096, 7, 16, 24},
                               {512, 512, 7, 16, 16},
                               {512, 512, 7, 20, 32},
                               {512, 512, 13, 32, 48},
                               {512, 2048, 7, 16, 16},
                               {512, 2048, 7, 20, 32},
                               {256, 256, 25, 64, 96},
                               {256, 1024, 13, 32, 32},
                               {256, 1024, 13, 40, 64},
                               {256, 1024, 12, 64, 96},
                               {128, 128, 25, 64, 64},
                               {128, 48, 25, 64, 64},
                               {128, 48, 12, 128, 192}}) {
    const auto name = ::testing::Message()
                      << size.channels << " " << size.outputs << " " << size.frames;
    Draw(size);
    const at::Tensor actual = Convolved();
    EXPECT_EQ(ran_, kTunedVariant) << name;
    const at::Tensor exact = Exact();
    const double own = DistanceOf(Convolved("aten"), exact);
    EXPECT_EQ(ran_, "aten");
    EXPECT_LT(DistanceOf(actual, exact), 1.01 * own) << name;
    EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast3d));
    // The same bits each time.
    EXPECT_TRUE(Convolved().equal(actual)) << name;
  }
}

TEST_F(TunedConvolutionsOfTheDecoder, AreRefusedWithTheReason) {
  const std::string tuned(kTunedVariant);
  const auto refusal = [&](const at::Tensor& bias = {}, int64_t row_padding = 1) {
    try {
      Convolved(tuned, bias, row_padding);
    } catch (const KernelError& error) {
      return std::string(error.status().message());
    }
    return std::string();
  };
  Draw({96, 96, 4, 8, 8});
  Convolved();
  EXPECT_EQ(ran_, "aten");
  if (!HasTable()) GTEST_SKIP() << "SKIPPED: the table is of another GPU or cuDNN";
  Draw({96, 96, 4, 8, 8});
  EXPECT_THAT(refusal(), ::testing::HasSubstr("no other plan"));
  Draw({1024, 1024, 4, 8, 8}, at::kHalf);
  EXPECT_THAT(refusal(), ::testing::HasSubstr("it needs bf16"));
  Draw({1024, 1024, 4, 8, 8});
  EXPECT_THAT(refusal(Values({1024, 1, 1, 1, 1}).flatten()), ::testing::HasSubstr("no bias"));
  // Of a device of a group, whose neighbours give it their rows.
  EXPECT_THAT(refusal({}, 0), ::testing::HasSubstr("with a pixel of padding"));
  x_ = x_.contiguous();
  EXPECT_THAT(refusal(), ::testing::HasSubstr("side by side"));
  EXPECT_NE(Convolved("aten").numel(), 0);
}

// Listings mark what takes every size.
TEST(TunedConvolution, StandsFirstAndIsNotMarked) {
  kernels::KernelCatalog gpu = kernels::BuiltInCatalog({.device = 0, .sm = 90});
  AddFrameworkVariants(gpu);
  EXPECT_THAT(gpu.VariantNames("conv3d"), ::testing::ElementsAre(kTunedVariant, "aten", "loops"));
  for (const auto& listing : gpu.List()) {
    if (listing.op != "conv3d") continue;
    EXPECT_TRUE(listing.variants[0].runs) << listing.variants[0].reason;
    EXPECT_FALSE(listing.variants[0].is_auto || listing.variants[0].is_lossy);
    EXPECT_TRUE(listing.variants[1].is_auto);
  }
}

}  // namespace
}  // namespace reel::model
