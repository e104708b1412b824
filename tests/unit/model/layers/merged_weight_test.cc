// SPDX-License-Identifier: Apache-2.0
// Weights with adapters against the same sum by libtorch, bit for bit.
#include "model/layers/merged_weight.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/bridge/torch_device.h"
#include "model/layers/stored_values.h"
#include "model/layers/weights.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMergedRows = 48, kMergedColumns = 33, kFirstRank = 4, kSecondRank = 7;
constexpr double kFirstScale = 0.7, kSecondScale = -1.25;

TypedTensor AsTyped(const std::string& name, const at::Tensor& values) {
  const std::map<at::ScalarType, const char*> types = {{at::kFloat, "F32"},
                                                       {at::kHalf, "F16"},
                                                       {at::kBFloat16, "BF16"},
                                                       {at::kFloat8_e4m3fn, "F8_E4M3"}};
  const at::Tensor held = values.contiguous();
  return {name,
          types.at(held.scalar_type()),
          held.sizes().vec(),
          {static_cast<const char*>(held.data_ptr()), held.nbytes()}};
}

// A weight with products of two adapters.
class MergedWeight : public ::testing::Test {
 protected:
  MergedWeight()
      : first_down_(at::randn({kFirstRank, kMergedColumns})),
        first_up_(at::randn({kMergedRows, kFirstRank}) * 0.1),
        second_down_(at::randn({kSecondRank, kMergedColumns}).to(at::kBFloat16)),
        second_up_(at::randn({kMergedRows, kSecondRank}).to(at::kHalf)) {}

  absl::StatusOr<WeightSet> Stored(const at::Tensor& weight) const {
    auto weights = WeightSet::OpenFile(
        folder_.Write("w.safetensors", SafetensorsOfTypes({AsTyped("a.weight", weight)})));
    if (!weights.ok()) return weights;
    const auto adapters = std::make_shared<const WeightFile>(*WeightFile::Open(
        folder_.Write("a.safetensors",
                      SafetensorsOfTypes({AsTyped("0", first_down_), AsTyped("1", first_up_),
                                          AsTyped("2", second_down_), AsTyped("3", second_up_)}))));
    const auto entry = [&](size_t i) { return &adapters->header().tensors[i]; };
    return weights->WithAdded({{"a.weight",
                                {{adapters, entry(0), entry(1), kFirstScale},
                                 {adapters, entry(2), entry(3), kSecondScale}}}});
  }
  // In fp32, on the device.
  at::Tensor Sum(const at::Tensor& weight, at::Device device) const {
    const auto wide = [&](const at::Tensor& t) { return t.to(device).to(at::kFloat); };
    return wide(weight) + (wide(first_up_).mm(wide(first_down_)) * kFirstScale +
                           wide(second_up_).mm(wide(second_down_)) * kSecondScale);
  }

  const reel::testing::TempFolder folder_;
  const at::Tensor first_down_, first_up_, second_down_, second_up_;
};

TEST_F(MergedWeight, IsTheSumOfWeightAndProductsRoundedOnce) {
  if (!DeviceUnderTest().ok()) GTEST_SKIP() << DeviceUnderTest().status();
  const at::Device device = *TorchDeviceOf(DeviceUnderTest()->stream);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kFloat8_e4m3fn}) {
    const at::Tensor weight = at::randn({kMergedRows, kMergedColumns}).to(type);
    const auto stored = Stored(weight);
    ASSERT_TRUE(stored.ok()) << stored.status();
    for (const at::ScalarType held : {at::kFloat, at::kBFloat16, at::kHalf}) {
      Weights weights(*stored, held, device);
      const at::Tensor merged = weights.Take("a.weight", {kMergedRows, kMergedColumns});
      ASSERT_TRUE(weights.Finish().ok()) << weights.Finish();
      EXPECT_TRUE(merged.equal(Sum(weight, device).to(held))) << type << " " << held;
      EXPECT_FALSE(merged.equal(weight.to(device).to(held)));
    }
  }
}

TEST_F(MergedWeight, HasTheAdaptersInTheirOrder) {
  const auto stored = Stored(at::zeros({kMergedRows, kMergedColumns}));
  ASSERT_TRUE(stored.ok()) << stored.status();
  const std::vector<LowRankProduct>& added = stored->Find("a.weight")->added;
  ASSERT_EQ(added.size(), 2U);
  EXPECT_EQ(added[0].scale, kFirstScale);
  EXPECT_EQ(added[0].rank(), kFirstRank);
  EXPECT_EQ(added[1].scale, kSecondScale);
}

TEST_F(MergedWeight, OfAModelWithoutMemoryHasNoValues) {
  const auto stored = Stored(at::zeros({kMergedRows, kMergedColumns}));
  Weights weights(*stored, at::kFloat, at::kMeta);
  EXPECT_TRUE(weights.Take("a.weight", {kMergedRows, kMergedColumns}).is_meta());
  EXPECT_TRUE(weights.Finish().ok());
}

TEST_F(MergedWeight, ThatIsNotFiniteIsAnError) {
  second_up_.fill_(100);
  second_down_.fill_(-100);
  const auto stored = Stored(at::zeros({kMergedRows, kMergedColumns}));
  ASSERT_TRUE(stored.ok()) << stored.status();
  Weights wide(*stored, at::kFloat, at::kCPU);
  EXPECT_TRUE(wide.Take("a.weight", {kMergedRows, kMergedColumns}).defined());
  EXPECT_TRUE(wide.Finish().ok());
  // The sums are about 87,500, above the largest half.
  Weights half(*stored, at::kHalf, at::kCPU);
  half.Take("a.weight", {kMergedRows, kMergedColumns});
  EXPECT_EQ(half.Finish().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(half.Finish().message()), HasSubstr("a.weight"));
}

// Larger than what is read at once. Small whole numbers, whose sums are exact in any order.
TEST(LargeMergedWeight, IsMadeInPieces) {
  constexpr int64_t kWide = 4096, kHigh = kReadAtOnce / kWide + 3;
  const auto whole = [](at::IntArrayRef shape) {
    return at::arange(shape[0] * shape[1], at::TensorOptions(at::kLong))
        .remainder(7)
        .sub(3)
        .view(shape)
        .to(at::kBFloat16);
  };
  const at::Tensor weight = whole({kHigh, kWide}), down = whole({2, kWide}), up = whole({kHigh, 2});
  const reel::testing::TempFolder folder;
  const auto file = std::make_shared<const WeightFile>(*WeightFile::Open(folder.Write(
      "w.safetensors",
      SafetensorsOfTypes({AsTyped("a.weight", weight), AsTyped("b", down), AsTyped("c", up)}))));
  const std::vector<TensorEntry>& entries = file->header().tensors;
  const StoredTensor stored = {
      .file = file, .entry = &entries[0], .added = {{file, &entries[1], &entries[2], 2}}};
  const auto merged = ReadMerged(stored, at::TensorOptions(at::kBFloat16));
  ASSERT_TRUE(merged.ok()) << merged.status();
  const at::Tensor expected = weight.to(at::kFloat) + up.to(at::kFloat).mm(down.to(at::kFloat)) * 2;
  EXPECT_TRUE(merged->equal(expected.to(at::kBFloat16)));
}

}  // namespace
}  // namespace reel::model
