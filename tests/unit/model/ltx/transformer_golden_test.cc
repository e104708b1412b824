// SPDX-License-Identifier: Apache-2.0
// Angles, times, one block, and the whole transformer, against diffusers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "model/layers/timestep_embedding.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

constexpr LatentShape kShape = {2, 3, 5};
constexpr double kFrameRate = 25;

TransformerConfig TinyConfig(const std::string& folder) {
  return *ReadTransformerConfig(*ReadJsonFile(folder + "/transformer/config.json"), "config.json");
}

// The condition of the goldens: coordinates in frames and pixels. Not drawn again: `randn` has
// other last bits where it is not vectorised, which angles of 10^5 make large.
at::Tensor GivenCoordinates(const Golden& golden) {
  const at::Tensor coords = golden["rope.given.coords"][0];
  return at::stack({coords[0] / 20.0, coords[1] / 2048.0, coords[2] / 2048.0});
}

// The angles that diffusers rotates by, [1, N, width], in double.
at::Tensor RopeAngles(const at::Tensor& coordinates, int64_t width) {
  const at::Tensor exponents = at::linspace(0.0, 1.0, width / 6, at::TensorOptions(at::kDouble));
  const at::Tensor places = coordinates.to(at::kDouble).t().unsqueeze(-1) * 2 - 1;  // [N, 3, 1]
  const at::Tensor angles = places * (at::pow(10000.0, exponents) * M_PI / 2.0);
  const at::Tensor pairs = angles.transpose(1, 2).flatten(1).repeat_interleave(2, -1);
  return at::constant_pad_nd(pairs, {width - pairs.size(1), 0}).unsqueeze(0);
}

// How far two sines or cosines are apart, beyond a unit in the last place of 1, in units in the
// last place of their angle. One processor's `pow` and `exp` differ from another's by a unit, which
// a large angle makes a large difference.
double UnitsOfTheAngle(const at::Tensor& actual, const at::Tensor& expected,
                       const at::Tensor& angles) {
  constexpr double kUnit = std::numeric_limits<float>::epsilon();
  const at::Tensor off = (actual.to(at::kDouble) - expected.to(at::kDouble)).abs() - kUnit;
  return (off / (angles.abs() * kUnit).clamp_min(kUnit)).max().item<double>();
}

class TransformerGolden : public ::testing::Test {
 protected:
  TransformerGolden() : folder_("0.9.0"), golden_("0.9.0") {}

  absl::StatusOr<Transformer> Load(at::ScalarType dtype) const {
    const auto stored =
        WeightSet::OpenFolder(folder_.path() + "/transformer", "diffusion_pytorch_model");
    if (!stored.ok()) return stored.status();
    return Transformer::Load(*stored, TinyConfig(folder_.path()), dtype, at::kCPU);
  }

  TextContext Text(const Transformer& model) const {
    const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0}).view({2, 6});
    return model.Prepare(ops_, Draw(22, {2, 6, 32}), mask);
  }

  // The same texts, which are asked whatever they are: a key that is not the first one may be.
  TextContext AllAsk(const Transformer& model, const at::Tensor& texts,
                     const at::Tensor& masks) const {
    const at::Tensor swapped = at::tensor({1, 0, 2, 3, 4, 5}).to(at::kLong);
    const at::Tensor second = at::tensor({0, 1, 0, 0, 0, 0}).view({1, 6});
    const TextContext context =
        model.Prepare(ops_, at::cat({texts, texts.slice(0, 0, 1)}).index_select(1, swapped),
                      at::cat({masks.index_select(1, swapped), second}));
    return context.Rows(0, texts.size(0));
  }

  // Calls of linear layers so far.
  int64_t Products() const {
    int64_t calls = 0;
    for (const kernels::VariantUse& use : test_.counters.Uses()) {
      if (use.op == "linear") calls += use.calls;
    }
    return calls;
  }

  at::Tensor Scalar(const Transformer& model) const {
    return model.Velocity(ops_, {.x = Draw(21, {2, 30, 8}).to(model.dtype()),
                                 .time = model.Times(ops_, at::tensor({725.0f, 31.0f})),
                                 .time_of = {},
                                 .rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32),
                                 .text = Text(model)});
  }

  const TinyFolder folder_;
  const Golden golden_;
  TestRun test_;
  const Ops ops_{test_.run};
};

TEST_F(TransformerGolden, RopeEqualsDiffusersToTwoUnitsOfTheAngle) {
  const at::Tensor plain = PlainCoordinates(kShape, kFrameRate);
  const RopeTable::Dense rope = MakeRopeTable(plain, 32).dense();
  const at::Tensor angles = RopeAngles(plain, 32);
  EXPECT_LE(UnitsOfTheAngle(rope.cos, golden_["rope.plain.cos"], angles), 2);
  EXPECT_LE(UnitsOfTheAngle(rope.sin, golden_["rope.plain.sin"], angles), 2);
  const at::Tensor given = GivenCoordinates(golden_);
  EXPECT_LE(UnitsOfTheAngle(MakeRopeTable(given, 32).dense().cos, golden_["rope.given.cos"],
                            RopeAngles(given, 32)),
            2);
}

TEST_F(TransformerGolden, RopeOfTheFullWidthHasThePublishedValues) {
  constexpr int64_t kToken = 1000;  // frame 2, row 9, column 16 of 7 x 16 x 24
  const LatentShape shape = {7, 16, 24};
  const std::vector<std::pair<RopeTable, std::vector<float>>> cases = {
      {MakeRopeTable(PlainCoordinates(shape, 25), 2048),
       {1, .100361690f, .427555114f, .707106769f, .060121931f}},
      {MakeRopeTable(CausalCoordinates(shape, 25, 0), 2048),
       {1, .056518536f, .427555114f, .707106769f, .014967674f}}};
  for (const auto& [table, values] : cases) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto channel = static_cast<int64_t>(2 * i);
      EXPECT_NEAR(table.dense().cos[0][kToken][channel].item<float>(), values[i], 2e-7);
      EXPECT_EQ(table.dense().cos[0][kToken][channel + 1].item<float>(),
                table.dense().cos[0][kToken][channel].item<float>());
    }
  }
}

TEST_F(TransformerGolden, TimeSinusoidEqualsDiffusersToTwoUnitsOfTheAngle) {
  const at::Tensor times = at::tensor({725.0f, 50.0f, 0.03f});
  const at::Tensor frequencies = at::exp(at::arange(128, at::kDouble) * (-std::log(10000.0) / 128));
  const at::Tensor angles = times.to(at::kDouble).unsqueeze(1) * frequencies;
  EXPECT_LE(UnitsOfTheAngle(TimestepSinusoid(times), golden_["time.sinusoid"],
                            at::cat({angles, angles}, -1)),
            2);
}

TEST_F(TransformerGolden, OneBlock) {
  const auto stored =
      WeightSet::OpenFolder(folder_.path() + "/transformer", "diffusion_pytorch_model");
  Weights weights(*stored, at::kFloat, at::kCPU);
  const TransformerConfig config = TinyConfig(folder_.path());
  const TransformerBlock block = TakeTransformerBlock(weights, 0, config);
  const TimestepEmbedding embedding = TakeTimestepEmbedding(weights, "time_embed.emb", 32);
  const Linear rows = TakeLinear(weights, "time_embed.linear", 32, 192);
  const at::Tensor time =
      rows(ops_, at::silu(embedding(ops_, at::tensor({725.0f, 31.0f})))).view({2, 1, 192});
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0}).view({2, 1, 1, 6});
  const at::Tensor of_text =  // of all blocks
      TakeTextKeysAndValues(weights, config)(ops_, Draw(25, {2, 6, 32}));
  const at::Tensor k = block.text_attention.NormedKey(ops_, of_text.slice(2, 0, 32));
  const at::Tensor v = of_text.slice(2, 32, 64);
  // Two equal blocks, one behind the other.
  const VelocityInputs inputs = {.x = Draw(24, {2, 30, 32}),
                                 .time = {.embedded = {}, .rows = time.squeeze(1)},
                                 .time_of = {},
                                 .rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32),
                                 .text = {{at::stack({k, k}), at::stack({v, v}), {}},
                                          {(1 - mask.to(at::kFloat)) * -10000, {}},
                                          {false, false}}};
  BlockCall call({&inputs, 1}, TokenLayout::Order::kByVideo,
                 at::stack({block.scale_shift_table, block.scale_shift_table}), 0);
  const BlockTokens behind = block(ops_, {inputs.x}, {}, call);
  EXPECT_LT(Compare("one block", behind.x, golden_["block"]).relative, 1e-5);
  EXPECT_FALSE(behind.normed.values.defined());
  // With the next block's first norm in the last pass.
  const BlockTokens ahead = block(ops_, {inputs.x}, {.goes_on = true}, call);
  EXPECT_LT(Compare("one block, and a norm", ahead.x, golden_["block"]).relative, 1e-5);
  const at::Tensor apart = block(ops_, behind, {.index = 1}, call).x;
  EXPECT_LT(Compare("the next", block(ops_, ahead, {.index = 1}, call).x, apart).relative, 1e-6);
}

TEST_F(TransformerGolden, OneTimeForAllTokens) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->parameters(), 52584);
  EXPECT_LT(Compare("transformer", Scalar(*model), golden_["transformer.scalar"]).relative, 1e-5);
}

TEST_F(TransformerGolden, ATimeForEachToken) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const at::Tensor time_of = at::where(at::arange(30) < 15, 0, 1).to(at::kLong);
  const at::Tensor velocity =
      model->Velocity(ops_, {.x = Draw(21, {2, 30, 8}),
                             .time = model->Times(ops_, at::tensor({0.0f, 409.5f})),
                             .time_of = time_of.repeat({2, 1}),
                             .rope = MakeRopeTable(GivenCoordinates(golden_), 32),
                             .text = Text(*model)});
  EXPECT_LT(Compare("transformer, per token", velocity, golden_["transformer.per_token"]).relative,
            1e-5);
}

// What rows of a clip have in common is made once, and is what they would have made alone.
TEST_F(TransformerGolden, RowsOfAClipAreEachTheirOwn) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const int64_t all = 3;
  const at::Tensor x = Draw(21, {2, 30, 8});
  const TimeRows times = model->Times(ops_, at::tensor({725.0f, 31.0f}));
  const RopeTable rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32);
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
  const TextContext text = model->Prepare(ops_, Draw(22, {all, 6, 32}), mask.view({all, 6}));
  const auto row = [](const at::Tensor& t, int64_t i) { return t.slice(0, i, i + 1); };
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{3}, {1, 2}, {2, 1}}) {
    const auto clips = static_cast<int64_t>(rows.size());
    const at::Tensor together = model->Velocity(ops_, {.x = x.slice(0, 0, clips),
                                                       .time = times.Slice(0, clips),
                                                       .time_of = {},
                                                       .rope = rope,
                                                       .text = text,
                                                       .rows = rows});
    ASSERT_EQ(together.size(0), all);
    for (int64_t i = 0; i < all; ++i) {
      const int64_t clip = i < rows[0] ? 0 : 1;
      const at::Tensor alone = model->Velocity(ops_, {.x = row(x, clip),
                                                      .time = times.Slice(clip, 1),
                                                      .time_of = {},
                                                      .rope = rope,
                                                      .text = text.Rows(i, 1)});
      EXPECT_LT(Compare("a row of a clip", row(together, i), alone).relative, 1e-5) << i;
    }
  }
}

// A key that is alone has the weight 1, whatever the query is: an empty prompt is not asked.
TEST_F(TransformerGolden, ARowWithOneKeyIsNotAskedAndSaysTheSame) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const at::Tensor many = at::tensor({1, 1, 1, 1, 0, 0}), one = at::tensor({1, 0, 0, 0, 0, 0});
  struct Case {
    std::vector<at::Tensor> masks;
    std::vector<int64_t> rows, perturbed;
  };
  for (const Case& c : {Case{{one, many}, {2}, {}},
                        {{many, one}, {2}, {}},
                        {{one}, {1}, {}},
                        {{one, one}, {1, 1}, {}},
                        {{one, many, one, many}, {2, 2}, {}},
                        {{one, many, one, one}, {2, 2}, {}},
                        {{many, one, one, many}, {2, 2}, {}},
                        {{one, many, many, one, many}, {2, 1, 2}, {}},
                        {{one, many, one, many, one, many, one}, {2, 2, 2, 1}, {}},
                        {{one, many, many}, {3}, {1}},
                        {{many, one, one}, {3}, {0}}}) {
    const auto all = static_cast<int64_t>(c.masks.size());
    const auto clips = static_cast<int64_t>(c.rows.size());
    at::Tensor texts = Draw(22, {all, 6, 32});
    if (!c.perturbed.empty()) texts[all - 1].copy_(texts[all - 2]);
    VelocityInputs inputs = {.x = Draw(21, {clips, 30, 8}),
                             .time = model->Times(ops_, at::full({clips}, 725.0)),
                             .time_of = {},
                             .rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32),
                             .text = model->Prepare(ops_, texts, at::stack(c.masks)),
                             .rows = c.rows,
                             .perturbed = c.perturbed};
    const TextContext asks = AllAsk(*model, texts, at::stack(c.masks));
    const int64_t before = Products();
    const at::Tensor known = model->Velocity(ops_, inputs);
    const int64_t when_known = Products() - before;
    inputs.text = asks;
    const at::Tensor asked = model->Velocity(ops_, inputs);
    EXPECT_LT(Compare("not asked", known, asked).relative, 1e-5) << all;
    const int64_t when_asked = Products() - before - when_known;
    const bool somebody_asks = std::any_of(
        c.masks.begin(), c.masks.end(), [&](const at::Tensor& mask) { return mask.equal(many); });
    // A query and what is made of the answer, in each block.
    EXPECT_EQ(when_asked - when_known, somebody_asks ? 0 : 2 * model->config().num_layers) << all;
  }
}

TEST_F(TransformerGolden, APerturbedRowIsMadeWithItsPromptsUntilItDiffers) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const at::Tensor text = Draw(22, {2, 6, 32}), x = Draw(21, {1, 30, 8});
  const at::Tensor texts = at::cat({text, text.slice(0, 1, 2)});
  const TextContext context = model->Prepare(ops_, texts, at::ones({3, 6}));
  for (const std::vector<int64_t>& perturbed : {std::vector<int64_t>{0}, {1}, {0, 1}, {}}) {
    for (const int64_t rows : {2, 3}) {
      VelocityInputs once = {.x = x,
                             .time = model->Times(ops_, at::full({1}, 725.0)),
                             .time_of = {},
                             .rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32),
                             .text = context.Rows(3 - rows, rows),
                             .rows = {rows},
                             .perturbed = perturbed};
      VelocityInputs each = once;
      each.x = x.repeat({rows, 1, 1});
      each.time = model->Times(ops_, at::full({rows}, 725.0));
      each.rows = {};
      const at::Tensor velocity = model->Velocity(ops_, once);
      EXPECT_LT(Compare("perturbed", velocity, model->Velocity(ops_, each)).relative, 1e-5);
      // Not by bits: a processor may sum the rows of a product in different orders.
      const double apart =
          Compare("the perturbed row", velocity[rows - 1], velocity[rows - 2]).relative;
      EXPECT_EQ(apart > 1e-4, !perturbed.empty()) << apart;
    }
  }
}

// To the bit: who leaves nothing out has the same velocity.
TEST_F(TransformerGolden, InPartsItIsTheSame) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const TextContext context = model->Prepare(ops_, Draw(22, {3, 6, 32}), at::ones({3, 6}));
  const at::Tensor time_of = at::where(at::arange(60) % 30 < 15, 0, 1).to(at::kLong).view({2, 30});
  struct Case {
    std::vector<int64_t> rows, perturbed;
    bool times_differ = false;
  };
  for (const Case& known : std::vector<Case>{{{1}, {}},
                                             {{3}, {}},
                                             {{1, 2}, {}},
                                             {{2, 1}, {}, true},
                                             {{2}, {0}},
                                             {{3}, {0}},
                                             {{3}, {1}},
                                             {{3}, {0, 1}}}) {
    const auto clips = static_cast<int64_t>(known.rows.size());
    int64_t rows = 0;
    for (const int64_t own : known.rows) rows += own;
    VelocityInputs inputs = {.x = Draw(21, {clips, 30, 8}),
                             .time = model->Times(ops_, Draw(23, {2}).abs() * 500),
                             .time_of = known.times_differ ? time_of : at::Tensor(),
                             .rope = MakeRopeTable(PlainCoordinates(kShape, kFrameRate), 32),
                             .text = context.Rows(0, rows),
                             .rows = known.rows,
                             .perturbed = known.perturbed};
    if (!known.times_differ) inputs.time = inputs.time.Slice(0, clips);
    const at::Tensor whole = model->Velocity(ops_, inputs);
    VelocityInputs parts = inputs;
    parts.text = inputs.text.OfFirstBlock();
    const FirstBlock first = model->First(ops_, parts);
    EXPECT_EQ(first.added.sizes(), first.x.sizes());
    parts = inputs;
    parts.x = first.x;
    const at::Tensor all = model->Others(ops_, parts);
    EXPECT_EQ(all.sizes(), Transformer::AllRows(parts, first.x).sizes());
    EXPECT_TRUE(model->Head(ops_, parts, all).equal(whole)) << rows;
  }
}

TEST_F(TransformerGolden, RunsInSixteenBits) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const auto model = Load(dtype);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_LT(
        Compare("transformer, 16 bits", Scalar(*model), golden_["transformer.scalar"]).relative,
        0.1);
  }
}

TEST_F(TransformerGolden, CountsEveryOperator) {
  const auto model = Load(at::kFloat);
  ASSERT_TRUE(model.ok());
  const TextContext text = Text(*model);
  test_.counters = {};
  Scalar(*model);
  std::map<std::string, int64_t> calls;
  for (const auto& use : test_.counters.Uses()) calls[use.op] += use.calls;
  // Two into and out of the model, three of the time and two of the text. All blocks' keys and
  // values of the text with many keys and of the one with one key. Five of each block, and its
  // answer of the text with one key.
  EXPECT_EQ(calls["linear"], 2 + 3 + 2 + 2 + 2 * (5 + 1));
  EXPECT_EQ(calls["linear_gelu"], 2);
  EXPECT_EQ(calls["adaln_rms_norm"], 2);
  EXPECT_EQ(calls["gate_residual"], 4);
  EXPECT_EQ(calls["gate_residual_adaln"], 2);
  EXPECT_EQ(calls["qk_norm_rope"], 2);
  // Heads of 16: those of the text are not cross_attention, which takes 64 and 128.
  EXPECT_EQ(calls["attention"], 4);
}

TEST_F(TransformerGolden, NamesTheTensorThatDoesNotFit) {
  TransformerConfig config = TinyConfig(folder_.path());
  const auto stored =
      WeightSet::OpenFolder(folder_.path() + "/transformer", "diffusion_pytorch_model");
  const auto message = [&] {
    return std::string(Transformer::Load(*stored, config, at::kFloat, at::kCPU).status().message());
  };
  config.num_layers = 3;
  EXPECT_NE(message().find("transformer_blocks.2."), std::string::npos);
  config.num_layers = 1;
  EXPECT_NE(message().find("does not use"), std::string::npos);
  config.num_layers = 2;
  config.caption_channels = 16;
  EXPECT_NE(message().find("caption_projection.linear_1.weight"), std::string::npos);
}

}  // namespace
}  // namespace reel::model::ltx
