// SPDX-License-Identifier: Apache-2.0
#include "model/adapting/adapter_columns.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/request_adapter.h"
#include "tests/unit/model/adapting/example_room.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

// For the layers of the room with these numbers, all values `value`.
std::shared_ptr<const LoadedAdapter> AdapterOf(const AdapterRoom& room,
                                               const std::vector<size_t>& layers, int64_t columns,
                                               double value) {
  auto adapter = std::make_shared<LoadedAdapter>();
  adapter->columns = columns;
  for (const size_t index : layers) {
    const AdapterRoom::Layer& layer = room.layers()[index];
    adapter->layers.push_back({.index = index,
                               .part = index == 3 ? AdapterPart::kAudio : AdapterPart::kVideo,
                               .down = at::full({columns / kAdapterSlot, kAdapterSlot, kRoomIn},
                                                value, layer.down.options()),
                               .up = at::full({kRoomOut, columns / kAdapterSlot, kAdapterSlot},
                                              value, layer.up.options())});
  }
  return adapter;
}

class AdapterColumnsTest : public ::testing::Test {
 protected:
  at::Tensor Place(const std::vector<AppliedAdapters>& jobs) {
    std::vector<const AppliedAdapters*> all;
    for (const AppliedAdapters& job : jobs) all.push_back(&job);
    return columns_.Place(all);
  }
  bool HaveRoomFor(const std::vector<AppliedAdapters>& jobs) const {
    std::vector<const AppliedAdapters*> all;
    for (const AppliedAdapters& job : jobs) all.push_back(&job);
    return columns_.HaveRoomFor(all);
  }
  // The value in a layer's columns from `first` on; all of a slot's are equal.
  double UpOf(size_t layer, int64_t first) const {
    return columns_.room().layers()[layer].up[0].flatten()[first].item<double>();
  }

  const c10::InferenceMode no_gradients_;
  AdapterColumns columns_{ExampleRoom(96).room};
  const std::shared_ptr<const LoadedAdapter> one_ = AdapterOf(columns_.room(), {0, 3}, 32, 1),
                                             two_ = AdapterOf(columns_.room(), {1}, 64, 2),
                                             three_ = AdapterOf(columns_.room(), {0}, 32, 3);
};

TEST_F(AdapterColumnsTest, GiveEachAdapterItsOwnAndEachJobItsScales) {
  const at::Tensor scales = Place({{{one_, 0.5f}}, {}, {{one_, 2.0f}, {two_, -1.0f}}});
  ASSERT_EQ(scales.sizes(), at::IntArrayRef({3, 1, 96}));
  const at::Tensor first = scales.squeeze(1).slice(1, 0, 32), rest = scales.squeeze(1).slice(1, 32);
  EXPECT_TRUE(first.equal(at::tensor({0.5f, 0.0f, 2.0f}).unsqueeze(1).expand({3, 32})));
  EXPECT_TRUE(rest.equal(at::tensor({0.0f, 0.0f, -1.0f}).unsqueeze(1).expand({3, 64})));
  EXPECT_EQ(UpOf(0, 0), 1);
  EXPECT_EQ(UpOf(3, 31), 1);
  EXPECT_EQ(UpOf(1, 32), 2);
  EXPECT_EQ(UpOf(1, 95), 2);
}

TEST_F(AdapterColumnsTest, AreAsManyAsABucketHolds) {
  EXPECT_EQ(Place({{{one_, 1}}}).size(2), 32);
  EXPECT_EQ(Place({{{two_, 1}}}).size(2), 64);
  EXPECT_EQ(Place({{{two_, 1}}, {{one_, 1}}}).size(2), 96);  // 128, but there are no more
  EXPECT_FALSE(Place({{}, {}}).defined());
}

TEST_F(AdapterColumnsTest, KnowWhichProductsEverHadAnAdapter) {
  const auto& layers = columns_.room().layers();
  const auto are_used = [&] {
    std::vector<bool> used;
    for (const AdapterRoom::Layer& layer : layers) used.push_back(columns_.room().IsUsed(layer));
    return used;
  };
  EXPECT_EQ(are_used(), std::vector<bool>({false, false, false, false}));
  Place({{{two_, 1}}});
  EXPECT_EQ(are_used(), std::vector<bool>({true, true, true, false}));  // three are of one product
  Place({{{one_, 1}}});
  Place({{{three_, 1}}});
  EXPECT_EQ(are_used(), std::vector<bool>({true, true, true, true}));
}

TEST_F(AdapterColumnsTest, LeaveNothingOfAnEarlierAdapterInAnother) {
  Place({{{one_, 1}}});
  Place({{{two_, 1}}});
  EXPECT_EQ(UpOf(0, 0), 0);  // two_ leaves that layer as it is
  EXPECT_EQ(UpOf(3, 0), 0);
  EXPECT_EQ(UpOf(1, 0), 2);
  Place({{{three_, 1}}, {{two_, 1}}});
  EXPECT_EQ(UpOf(0, 0), 3);
  EXPECT_EQ(UpOf(1, 0), 0);
  EXPECT_EQ(UpOf(1, 32), 2);
}

TEST_F(AdapterColumnsTest, OfAJobAloneAreTheFirstWhateverStoodThere) {
  const at::Tensor alone = Place({{{three_, 0.7f}}}).clone();
  Place({{{one_, 1}}, {{three_, 0.7f}}});
  EXPECT_TRUE(Place({{{three_, 0.7f}}}).equal(alone));
  EXPECT_EQ(UpOf(0, 0), 3);
  EXPECT_EQ(UpOf(3, 0), 0);
}

TEST_F(AdapterColumnsTest, AreNotWrittenWhereTheRightOnesStand) {
  Place({{{one_, 1}}, {{two_, 1}}});
  columns_.room().layers()[0].up.fill_(5);
  Place({{{one_, 0.25f}}});
  Place({{{one_, 1}, {two_, 3}}});
  EXPECT_EQ(UpOf(0, 0), 5);
  columns_.Forget();
  Place({{{one_, 1}}});
  EXPECT_EQ(UpOf(0, 0), 1);
}

TEST_F(AdapterColumnsTest, HoldWhatFitsAndAnAdapterOfSeveralJobsOnce) {
  EXPECT_TRUE(HaveRoomFor({{{one_, 1}, {two_, 1}}, {{one_, 3}}, {}}));
  EXPECT_FALSE(HaveRoomFor({{{one_, 1}, {two_, 1}}, {{three_, 3}}}));
}

TEST_F(AdapterColumnsTest, HaveWhatAJobTakesOfEachPart) {
  const AppliedAdapter whole = {one_, 1}, half = {one_, 1, {}, {1, 0.5, 1, 1, 1}};
  EXPECT_EQ(Place({{whole}, {half}}).size(2), 64);  // of which each job has columns of its own
  EXPECT_EQ(UpOf(3, 0), 1);
  EXPECT_EQ(UpOf(3, 32), 0.5);
  EXPECT_EQ(UpOf(0, 32), 1);
  EXPECT_EQ(Place({{half}, {half}}).size(2), 32);
  EXPECT_EQ(UpOf(3, 0), 0.5);
  EXPECT_FALSE(HaveRoomFor({{whole}, {half}, {{one_, 1, {}, {1, 0, 1, 1, 1}}, {three_, 1}}}));
}

TEST_F(AdapterColumnsTest, LeaveAPartOfScaleZeroAsItIs) {
  Place({{{one_, 1, {}, {1, 0, 1, 1, 1}}}});
  EXPECT_EQ(UpOf(0, 0), 1);
  EXPECT_FALSE(columns_.room().IsUsed(columns_.room().layers()[3]));
  Place({{{one_, 1}}});
  Place({{{one_, 1, {}, {1, 0, 1, 1, 1}}}});
  EXPECT_EQ(UpOf(3, 0), 0);
}

TEST_F(AdapterColumnsTest, AreNotTakenInAPassWhoseScaleIsZero) {
  const AppliedAdapters first = {{one_, 0, {2, 0.5f}}, {three_, 1}};
  EXPECT_TRUE(HaveRoomFor({first, {{two_, 1}}}));
  EXPECT_EQ(Place({first}).size(2), 32);
  EXPECT_EQ(UpOf(0, 0), 3);
  const AppliedAdapters second = InNextPass(first), third = InNextPass(second);
  EXPECT_EQ(Place({second})[0][0][0].item<float>(), 2);
  EXPECT_EQ(Place({third})[0][0][0].item<float>(), 0.5f);
  EXPECT_EQ(Place({InNextPass(third)})[0][0][0].item<float>(), 0.5f);  // the last goes on
  EXPECT_TRUE(ChangeInNextPass(second));
  EXPECT_FALSE(ChangeInNextPass(third));
}

// With codes alone layers take other rows where they adapt.
TEST_F(AdapterColumnsTest, AreForVideosWithoutAdaptersTooButInEightBits) {
  const AppliedAdapters none, one = {{one_, 1}}, other = {{two_, 1}};
  for (const auto& [profile, mix] : {std::pair("auto", true), {"int8", false}, {"fp8", false}}) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    if (!plan.ok()) continue;  // not of this device
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
    EXPECT_EQ(MayStepTogether(none, one, run), mix) << profile;
    EXPECT_TRUE(MayStepTogether(other, one, run)) << profile;
    EXPECT_TRUE(MayStepTogether(none, none, run)) << profile;
  }
}

TEST_F(AdapterColumnsTest, OfOneFileUnderTwoNamesAddUp) {
  EXPECT_EQ(Place({{{one_, 0.5f}, {one_, 0.25f}}})[0][0][0].item<float>(), 0.75f);
}

}  // namespace
}  // namespace reel::model
