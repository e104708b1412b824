// SPDX-License-Identifier: Apache-2.0
// Layers with adapters beside their weights, against the sums written out.
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/adapting/adapter_columns.h"
#include "model/bridge/row_ops.h"
#include "model/layers/adapter_room.h"
#include "model/layers/feed_forward.h"
#include "model/layers/linear.h"
#include "tests/unit/model/bridge/device_test.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

constexpr int64_t kWidth = 128, kRows = 3, kTokens = 5, kColumns = 64;
constexpr double kFewRoundings = 1e-6, kOf16Bits = 8e-3, kOf8Bits = 0.06;

class AdaptedLinear : public DeviceTest {
 protected:
  at::Tensor Values(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    return at::randn(sizes, generator_, at::TensorOptions(at::kFloat)).to(device_, type);
  }
  // Where a layer's columns stand.
  enum class Place { kBeside, kBehind };
  // A layer of as many parts, whose columns hold random values.
  Linear Drawn(int64_t parts, at::ScalarType type = at::kFloat, Place place = Place::kBeside) {
    Linear layer;
    layer.weight = Values({parts * kWidth, kWidth}, type) / 11;
    layer.bias = Values({parts * kWidth}, type);
    std::vector<std::string> names;
    for (int64_t i = 0; i < parts; ++i) names.push_back(std::to_string(i));
    AdapterRoom room(kColumns);
    layer.columns = place == Place::kBehind
                        ? room.AddBehind(names, layer.weight)
                        : room.Add(names, kWidth, kWidth, layer.weight.options());
    room.Use(room.layers().front());
    layer.columns.down.copy_(Values(layer.columns.down.sizes(), type) / 11);
    layer.columns.up.copy_(Values(layer.columns.up.sizes(), type) / 8);
    return layer;
  }
  // Of each row: some columns of its own, and one row without any.
  at::Tensor Scales() {
    at::Tensor scales = Values({kRows, 1, kColumns});
    scales[0].slice(1, 0, kAdapterSlot).zero_();
    scales[1].zero_();
    return scales;
  }
  // In fp64, part by part.
  static at::Tensor Expected(const Linear& layer, const at::Tensor& x, const at::Tensor& scales) {
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
    const int64_t used = scales.size(-1), slots = used / kAdapterSlot;
    std::vector<at::Tensor> parts;
    for (int64_t part = 0; part < layer.columns.down.size(1); ++part) {
      const at::Tensor down = layer.columns.down.select(1, part).slice(0, 0, slots).flatten(0, 1);
      const at::Tensor up = layer.columns.up[part].flatten(1).slice(1, 0, used);
      parts.push_back(at::matmul(at::matmul(wide(x), wide(down).t()) * wide(scales), wide(up).t()));
    }
    return at::matmul(wide(x), wide(layer.weight).t()) + wide(layer.bias) + at::cat(parts, -1);
  }

  // The same rows, with the room that the layer wants, full of what nobody may read.
  static Rows WithRoom(const Ops& ops, const Linear& layer, const at::Tensor& x) {
    const int64_t room = layer.NeedsIn(ops).room;
    EXPECT_GT(room, 0);
    const at::Tensor whole = at::full({x.size(0), x.size(1), x.size(2) + room},
                                      std::numeric_limits<float>::quiet_NaN(), x.options());
    const at::Tensor values = whole.narrow(-1, 0, x.size(2));
    values.copy_(x);
    return {values, {}, whole};
  }

  // How many low_rank_rows were run.
  int64_t Products() const {
    for (const kernels::VariantUse& use : test_.counters.Uses()) {
      if (use.op == "low_rank_rows") return use.calls;
    }
    return 0;
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  at::Generator generator_ = at::detail::createCPUGenerator(5);
};

TEST_F(AdaptedLinear, AddsToEachRowWhatItsScalesTake) {
  for (const int64_t parts : {1, 3}) {
    const Linear layer = Drawn(parts);
    const at::Tensor x = Values({kRows, kTokens, kWidth}), scales = Scales().to(device_);
    const at::Tensor y = layer(ops_.WithAdapters(scales), x);
    EXPECT_LT(DistanceOf(y, Expected(layer, x, scales)), kFewRoundings);
    EXPECT_TRUE(layer(ops_, x).equal(ops_.Linear(x, layer.weight, layer.bias)));
  }
}

TEST_F(AdaptedLinear, TakesColumnsBehindItsWeightInOneProductWhereItsRowsHaveRoom) {
  for (const int64_t parts : {1, 3}) {
    const Linear layer = Drawn(parts, at::kFloat, Place::kBehind);
    const at::Tensor x = Values({kRows, kTokens, kWidth}), scales = Scales().to(device_);
    for (const int64_t used : {kAdapterSlot, kColumns}) {
      const at::Tensor of_used = scales.slice(2, 0, used);
      const Ops by = ops_.WithAdapters(of_used);
      const at::Tensor expected = Expected(layer, x, of_used);
      EXPECT_LT(DistanceOf(layer(by, WithRoom(by, layer, x)), expected), kFewRoundings);
      EXPECT_LT(DistanceOf(layer(by, Rows{x}), expected), kFewRoundings);  // without room
      EXPECT_LT(DistanceOf(layer(by, x), expected), kFewRoundings);
    }
    EXPECT_LT(DistanceOf(layer(ops_, x), ops_.Linear(x, layer.weight.contiguous(), layer.bias)),
              kFewRoundings);
  }
}

// What comes before a layer leaves the room itself.
TEST_F(AdaptedLinear, TakesGatedHeadsAndGelusWithTheRoomThatTheyLeave) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const Linear layer = Drawn(1, type, Place::kBehind);
    const at::Tensor x = Values({kRows, kTokens, kWidth}, type), scales = Scales().to(device_);
    const at::Tensor logits = Values({kRows, kTokens, 2}, type);
    const Ops by = ops_.WithAdapters(scales);
    const Rows gated = HeadGate(by, x, logits, layer.NeedsIn(by));
    const Rows curved = GeluTanh(by, x, layer.NeedsIn(by));
    EXPECT_TRUE(gated.values.equal(HeadGate(by, x, logits, RowForm::kPlain).values));
    EXPECT_TRUE(curved.values.equal(GeluTanh(by, x, RowForm::kPlain).values));
    const double far = type == at::kFloat ? kFewRoundings : kOf16Bits;
    for (const Rows& rows : {gated, curved}) {
      ASSERT_EQ(rows.whole.size(2), kWidth + layer.NeedsIn(by).room);
      const at::Tensor values = rows.values.clone();
      EXPECT_LT(DistanceOf(layer(by, rows), Expected(layer, values, scales)), far);
      EXPECT_TRUE(rows.values.equal(values)) << "the room is behind the rows";
    }
  }
}

TEST_F(AdaptedLinear, TakesNothingOfAnOverflowThatOtherRowsHaveBehindItsWeight) {
  const Linear layer = Drawn(1, at::kFloat, Place::kBehind);
  layer.columns.down[0].fill_(std::numeric_limits<float>::max());
  const at::Tensor x = Values({kRows, kTokens, kWidth}).abs(), scales = Scales().to(device_);
  const Ops by = ops_.WithAdapters(scales);
  const at::Tensor y = layer(by, WithRoom(by, layer, x));
  EXPECT_TRUE(at::isfinite(y[0]).all().item<bool>());
  EXPECT_TRUE(at::isfinite(y[1]).all().item<bool>());
  EXPECT_FALSE(at::isfinite(y[2]).all().item<bool>());
}

TEST_F(AdaptedLinear, CostsNothingWhereNoAdapterEverStood) {
  Linear layer = Drawn(1);
  AdapterRoom room(kColumns);
  layer.columns = room.Add({"0"}, kWidth, kWidth, layer.weight.options());
  const at::Tensor x = Values({kRows, kTokens, kWidth}), scales = Scales().to(device_);
  const Ops by = ops_.WithAdapters(scales);
  EXPECT_TRUE(layer(by, x).equal(layer(ops_, x)));
  EXPECT_EQ(Products(), 0);
  room.Use(room.layers().front());
  EXPECT_TRUE(layer(by, x).equal(layer(ops_, x)));  // of zeros
  EXPECT_EQ(Products(), 1);
}

TEST_F(AdaptedLinear, TakesAsManyColumnsAsThereAreScales) {
  const Linear layer = Drawn(3);
  const at::Tensor x = Values({kRows, kTokens, kWidth});
  const at::Tensor scales = Scales().slice(2, 0, kAdapterSlot).to(device_);
  EXPECT_LT(DistanceOf(layer(ops_.WithAdapters(scales), x), Expected(layer, x, scales)),
            kFewRoundings);
}

TEST_F(AdaptedLinear, HasItsColumnsInEachPart) {
  for (const Place place : {Place::kBeside, Place::kBehind}) {
    const Linear layer = Drawn(3, at::kFloat, place);
    const at::Tensor x = Values({kRows, kTokens, kWidth}), scales = Scales().to(device_);
    const Ops by = ops_.WithAdapters(scales);
    const Linear last = OutputsFrom(layer, 2 * kWidth);
    const at::Tensor expected = layer(by, x).slice(2, 2 * kWidth);
    EXPECT_LT(DistanceOf(last(by, x), expected), kFewRoundings);
    if (place == Place::kBeside) continue;
    EXPECT_LT(DistanceOf(last(by, WithRoom(by, last, x)), expected), kFewRoundings);
  }
}

TEST_F(AdaptedLinear, TakesNothingOfAnOverflowThatOtherRowsHave) {
  const Linear layer = Drawn(1);
  layer.columns.down[0].fill_(std::numeric_limits<float>::max());
  const at::Tensor x = Values({kRows, kTokens, kWidth}).abs(), scales = Scales().to(device_);
  const at::Tensor y = layer(ops_.WithAdapters(scales), x);
  EXPECT_TRUE(at::isfinite(y[0]).all().item<bool>());
  EXPECT_TRUE(y[1].equal(layer(ops_, x)[1]));
  EXPECT_FALSE(at::isfinite(y[2]).all().item<bool>());
}

TEST_F(AdaptedLinear, LetsAGeluFollowTheSum) {
  for (const auto& [type, place] :
       {std::pair(at::kFloat, Place::kBeside), std::pair(at::kBFloat16, Place::kBeside),
        std::pair(at::kFloat, Place::kBehind), std::pair(at::kBFloat16, Place::kBehind)}) {
    FeedForward layers = {Drawn(1, type, place), Drawn(1, type, place)};
    const at::Tensor x = Values({kRows, kTokens, kWidth}, type), scales = Scales().to(device_);
    const Ops by = ops_.WithAdapters(scales);
    const at::Tensor y =
        layers(by, place == Place::kBehind ? WithRoom(by, layers.expand, x) : Rows{x});
    const at::Tensor middle = at::gelu(Expected(layers.expand, x, scales), "tanh");
    EXPECT_LT(DistanceOf(y, Expected(layers.contract, middle, scales)),
              type == at::kFloat ? kFewRoundings : kOf16Bits);
  }
}

// The weight's product in 8 bits, the adapters' in 16.
TEST_F(AdaptedLinear, KeepsTheProfilesCodesForTheWeight) {
  for (const auto& [profile, form] :
       {std::pair("int8", RowForm::kInt8), std::pair("fp8", RowForm::kE4m3)}) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    if (!plan.ok()) continue;  // not of this device
    Linear layer = Drawn(1, at::kBFloat16);
    layer.MakeIn(form);
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
    const at::Tensor x = Values({kRows, kTokens, kWidth}, at::kBFloat16);
    const at::Tensor scales = Scales().to(device_);
    const Ops plain(run), by = plain.WithAdapters(scales);
    EXPECT_EQ(layer.FormIn(plain), form);
    ASSERT_EQ(layer.FormIn(by), RowForm::kPlain);
    const at::Tensor coded = layer(plain, InForm(plain, x, form)), y = layer(by, Rows{x});
    EXPECT_TRUE(y[1].equal(coded[1])) << profile;
    EXPECT_LT(DistanceOf(y, Expected(layer, x, scales)), kOf8Bits) << profile;
    // What is added to the codes' product is as near as 16 bits are.
    EXPECT_LT(DistanceOf(y, coded.to(at::kDouble) + Expected(layer, x, scales) -
                                Expected(layer, x, at::zeros_like(scales))),
              kOf16Bits)
        << profile;
  }
}

}  // namespace
}  // namespace reel::model
