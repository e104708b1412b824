// SPDX-License-Identifier: Apache-2.0
// Layers of the sizes that the table of algorithms has, on a GPU that it was made for.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "model/bridge/by_device.h"
#include "model/bridge/cublaslt_variant.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/matrix_products.h"
#include "model/bridge/row_ops.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

struct ProductSize {
  int64_t rows, outputs, width;
  bool gelu = false, e4m3 = false;
};

class TunedProducts : public GpuTest {
 protected:
  at::Tensor Values(at::IntArrayRef shape) {
    return at::randn(shape, generator_, at::TensorOptions(at::kFloat)).to(device_, at::kBFloat16);
  }

  // By what "auto" takes, or the variant of that name; and which one it was.
  at::Tensor Product(const ProductSize& size, const std::vector<at::Tensor>& of,
                     const std::string& name, std::string& ran) {
    const std::string op = size.gelu ? "linear_gelu" : "linear";
    return ByVariant(op, name, ran, [&](const Ops& ops) {
      if (size.e4m3) {
        const Rows weight = InForm(ops, of[1], RowForm::kE4m3);
        return ops.Linear(InForm(ops, of[0], RowForm::kE4m3), {weight.values, weight.scale}, of[2],
                          at::kBFloat16);
      }
      return size.gelu ? ops.LinearGelu(of[0], of[1], of[2]) : ops.Linear(of[0], of[1], of[2]);
    });
  }

  // Of operands drawn for it, beside the variant `other`.
  void Expect(const ProductSize& size, std::string_view variant, std::string_view other) {
    const std::vector<at::Tensor> of = {Values({1, size.rows, size.width}),
                                        Values({size.outputs, size.width}) / 45.0,
                                        Values({size.outputs})};
    std::string ran;
    const at::Tensor actual = Product(size, of, "", ran);
    EXPECT_EQ(ran, variant) << size.rows << " " << size.outputs << " " << size.width;
    const at::Tensor expected = Product(size, of, std::string(other), ran);
    EXPECT_LT(DistanceOf(actual, expected), 3e-3) << size.rows << " " << size.outputs;
    // The same bits each time.
    EXPECT_TRUE(Product(size, of, "", ran).equal(actual));
  }

  // Whether this device and its library are those of the table.
  bool HasTable() {
    const ProductSize size = {.rows = 5376, .outputs = 2048, .width = 2048};
    std::string ran;
    Product(size, {Values({1, 5376, 2048}), Values({2048, 2048}), Values({2048})}, "", ran);
    return ran == kTunedVariant;
  }

  at::Generator generator_ = at::detail::createCPUGenerator(11);
};

TEST_F(TunedProducts, AreThoseOfTheLibrarysOwnChoice) {
  if (!HasTable()) GTEST_SKIP() << "SKIPPED: the table is of another GPU or cublasLt";
  for (const ProductSize& size : {ProductSize{512, 6144, 2048},
                                  {1280, 6144, 2048},
                                  {5376, 6144, 2048},
                                  {512, 2048, 2048},
                                  {2688, 2048, 2048},
                                  {5376, 2048, 2048},
                                  {13376, 2048, 2048},
                                  {512, 2048, 8192},
                                  {768, 2048, 8192}}) {
    Expect(size, kTunedVariant, kAtenVariant);
  }
  for (const int64_t rows : {1280, 1920, 4096, 5376, 12288}) {
    Expect({rows, 8192, 2048, true}, kTunedVariant, kEpilogueVariant);
  }
  for (const ProductSize& size : {ProductSize{512, 6144, 2048},
                                  {256, 2048, 2048},
                                  {512, 2048, 2048},
                                  {1280, 2048, 2048},
                                  {2688, 2048, 2048},
                                  {512, 2048, 8192},
                                  {1280, 2048, 8192},
                                  {4096, 2048, 8192}}) {
    Expect({size.rows, size.outputs, size.width, false, true}, kTunedE4m3Variant, kE4m3RowsVariant);
  }
}

TEST_F(TunedProducts, TakeRowsAndWeightsWithColumnsBehindThemAndSomeOfThose) {
  if (!HasTable()) GTEST_SKIP() << "SKIPPED: the table is of another GPU or cublasLt";
  const at::Tensor x = Values({1, 512, 2432}), weight = Values({6144, 2432}) / 45.0;
  const at::Tensor bias = Values({6144});
  for (const int64_t width : {2048, 2144}) {
    const ProductSize size = {512, 6144, width};
    const std::vector<at::Tensor> of = {x.narrow(2, 0, width), weight.narrow(1, 0, width), bias};
    std::string ran;
    const at::Tensor actual = Product(size, of, "", ran);
    EXPECT_EQ(ran, kTunedVariant) << width;
    const std::vector<at::Tensor> apart = {of[0].contiguous(), of[1].contiguous(), bias};
    EXPECT_LT(DistanceOf(actual, Product(size, apart, std::string(kAtenVariant), ran)), 3e-3);
  }
}

// 8192 outputs of 2048 are in the table, 4096 of 1024 are not.
TEST_F(TunedProducts, LeaveRoomBehindAGelu) {
  if (!HasTable()) GTEST_SKIP() << "SKIPPED: the table is of another GPU or cublasLt";
  constexpr int64_t kRoom = 32, kRows = 1280;
  for (const int64_t width : {2048, 1024}) {
    const at::Tensor x = Values({1, kRows, width}), bias = Values({4 * width});
    const at::Tensor weight = Values({4 * width, width}) / 45.0;
    std::string ran;
    Rows rows;
    ByVariant("linear_gelu", "", ran, [&](const Ops& ops) {
      rows = LinearGelu(ops, x, weight, bias, kRoom);
      return rows.values;
    });
    EXPECT_EQ(ran, kTunedVariant) << width;
    ASSERT_TRUE(rows.whole.defined()) << width;
    EXPECT_EQ(rows.whole.size(2), 4 * width + kRoom);
    EXPECT_EQ(rows.whole.data_ptr(), rows.values.data_ptr());
    const ProductSize size = {kRows, 4 * width, width, true};
    EXPECT_LT(DistanceOf(rows.values,
                         Product(size, {x, weight, bias}, std::string(kEpilogueVariant), ran)),
              3e-3);
  }
}

TEST_F(TunedProducts, AreRefusedAtOtherSizes) {
  std::string ran;
  const std::vector<at::Tensor> of = {Values({1, 100, 2048}), Values({2048, 2048}), Values({2048})};
  Product({100, 2048, 2048}, of, "", ran);
  EXPECT_EQ(ran, kAtenVariant);
  EXPECT_THROW(Product({100, 2048, 2048}, of, std::string(kTunedVariant), ran), KernelError);
}

// Two devices of a group work at the same time, each with products of its own.
TEST(ProductsOfDevices, AreMadeOnceForEach) {
  class None final : public MatrixProducts {
   public:
    bool Takes(const MatrixProduct&) override { return false; }
    at::Tensor Run(const MatrixProduct&) override { return {}; }
  };
  std::atomic<int> made = 0;
  ByDevice<MatrixProducts> products([&](at::Device device) -> std::unique_ptr<MatrixProducts> {
    ++made;
    return device.index() == 2 ? nullptr : std::make_unique<None>();
  });
  std::vector<MatrixProducts*> got(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      got[i] = products.On(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(i % 2)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 2);
  EXPECT_NE(got[0], got[1]);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], got[i % 2]);
  EXPECT_EQ(products.On(at::Device(at::kCUDA, 2)), nullptr);
  EXPECT_EQ(products.On(at::Device(at::kCUDA, 2)), nullptr);
  EXPECT_EQ(made, 3);
}

// Listings mark what takes most sizes; in 8 bits it is one of the lossy ones.
TEST(TunedVariants, StandFirstAndAreNotMarked) {
  kernels::KernelCatalog gpu = kernels::BuiltInCatalog({.device = 0, .sm = 90});
  AddFrameworkVariants(gpu);
  EXPECT_THAT(gpu.VariantNames("linear_gelu"),
              ::testing::ElementsAre(kE4m3GeluVariant, kTunedVariant, kEpilogueVariant,
                                     kAtenVariant, kCublasLtVariant));
  EXPECT_EQ(gpu.VariantNames("linear").front(), kTunedE4m3Variant);
  for (const auto& listing : gpu.List()) {
    for (const auto& variant : listing.variants) {
      const bool in_8_bits = variant.name == kTunedE4m3Variant || variant.name == kE4m3GeluVariant;
      if (variant.name != kTunedVariant && !in_8_bits) continue;
      EXPECT_TRUE(variant.runs) << variant.reason;
      EXPECT_FALSE(variant.is_auto) << listing.op;
      EXPECT_EQ(variant.is_lossy, in_8_bits);
    }
    if (listing.op != "linear" && listing.op != "linear_gelu") continue;
    EXPECT_TRUE(listing.variants[2].is_auto) << listing.variants[2].name;
  }
}

}  // namespace
}  // namespace reel::model
