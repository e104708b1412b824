// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope.h"

#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ltx_rope/ltx_rope_table.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

struct Form {
  bool dense = false;
  bool turned = true;  // with a table
  bool with_k = true;
  bool weighted = true;
  bool batched_index = false;
  int64_t heads = 0;       // 0: [B,S,D]
  bool odd_table = false;  // cos_sin begins between two pairs
  int64_t axes = 3;
  int64_t split_head = 0;  // channels of a split head; 0: pairs of neighbours
};

// Grid 2x2x3, any width; the table is small random numbers, so that every entry is told apart.
struct Case : OpCase {
  static constexpr int64_t kTokens = 12;
  static constexpr int64_t kRows = 7;

  Case(bool use_norm, const Form& use, Dtype dtype, int64_t use_width,
       Layout layout = Layout::kContiguous)
      : norm(use_norm),
        form(use),
        width(use_width),
        q(dtype, Sizes(), layout),
        q_out(dtype, Sizes(), layout),
        k(dtype, Sizes(), layout),
        k_out(dtype, Sizes(), layout),
        q_weight(dtype, {width}),
        k_weight(dtype, {width}),
        cos_sin(Dtype::kF32, {kRows, width / 2 / use.axes, 2},
                use.odd_table ? Layout::kOffset : Layout::kContiguous),
        index(Dtype::kI32, {use.batched_index ? 2 : 1, kTokens, use.axes}),
        cos(Dtype::kF32, {1, kTokens, width}),
        sin(Dtype::kF32, {1, kTokens, width}) {
    uint64_t seed = 1;
    for (HostTensor* tensor : {&q, &k, &q_weight, &k_weight, &cos_sin, &cos, &sin}) {
      tensor->FillNormal(seed++);
    }
    index.SetAll([&](int64_t i) { return static_cast<double>(i * 5 % kRows); });
  }

  std::vector<int64_t> Sizes() const {
    if (form.heads == 0) return {2, kTokens, width};
    return {2, kTokens, form.heads, width / form.heads};
  }
  LtxRopeTableView Table(ForcedRun& run) {
    if (form.dense) return {{}, {}, run.Use(cos), run.Use(sin)};
    return {run.Use(cos_sin), run.Use(index), {}, {}, form.split_head};
  }
  template <typename Args>
  Args Sides(ForcedRun& run) {
    Args args;
    args.q = run.Use(q);
    args.q_out = run.Use(q_out);
    if (form.with_k) {
      args.k = run.Use(k);
      args.k_out = run.Use(k_out);
    }
    return args;
  }
  QkNormRopeArgs NormArgs(ForcedRun& run) {
    auto args = Sides<QkNormRopeArgs>(run);
    if (form.weighted) {
      args.q_weight = run.Use(q_weight);
      args.k_weight = run.Use(k_weight);
    }
    if (form.turned) args.table = Table(run);
    return args;
  }
  LtxRopeArgs RopeArgs(ForcedRun& run) {
    auto args = Sides<LtxRopeArgs>(run);
    args.table = Table(run);
    return args;
  }
  absl::Status Call(ForcedRun& run) override {
    return norm ? QkNormRope(NormArgs(run), run.execution())
                : LtxRope(RopeArgs(run), run.execution());
  }

  // Channels from a channel to the other one of its pair.
  int64_t ToOther(int64_t channel) const {
    if (form.split_head == 0) return channel % 2 == 0 ? 1 : -1;
    const int64_t half = form.split_head / 2;
    return channel % form.split_head < half ? half : -half;
  }
  // The number of a channel's pair, in the order of first channels.
  int64_t PairOf(int64_t channel) const {
    if (form.split_head == 0) return channel / 2;
    const int64_t half = form.split_head / 2;
    return channel / form.split_head * half + channel % half;
  }

  // cos (0) or sin (1) of a channel of a token.
  double Turn(int64_t batch, int64_t token, int64_t channel, int64_t part) const {
    if (!form.turned) return part == 0 ? 1 : 0;
    if (form.dense) return (part == 0 ? cos : sin).Get(token * width + channel);
    const int64_t frequencies = width / 2 / form.axes;
    const int64_t angle = PairOf(channel) - (width / 2 - form.axes * frequencies);
    if (angle < 0) return part == 0 ? 1 : 0;
    const int64_t row = static_cast<int64_t>(index.Get(
        ((form.batched_index ? batch : 0) * kTokens + token) * form.axes + angle % form.axes));
    return cos_sin.Get((row * frequencies + angle / form.axes) * 2 + part);
  }

  Expected ReferenceOf(const HostTensor& in, const HostTensor& weight,
                       const HostTensor& out) const {
    Expected expected{&out, {}, {}};
    for (int64_t row = 0; row < 2 * kTokens; ++row) {
      std::vector<double> x;
      double squares = 0;
      for (int64_t c = 0; c < width; ++c) {
        x.push_back(in.Get(row * width + c));
        squares += x.back() * x.back();
      }
      const double rstd = norm ? 1 / std::sqrt(squares / static_cast<double>(width) + 1e-5) : 1;
      for (int64_t c = 0; c < width; ++c) {
        x[static_cast<size_t>(c)] *= rstd * (norm && form.weighted ? weight.Get(c) : 1);
      }
      for (int64_t c = 0; c < width; ++c) {
        const double own = x[static_cast<size_t>(c)] * Turn(row / kTokens, row % kTokens, c, 0);
        const double other = x[static_cast<size_t>(c + ToOther(c))] *
                             Turn(row / kTokens, row % kTokens, c, 1) * (ToOther(c) > 0 ? -1 : 1);
        expected.Add(own + other, std::abs(own) + std::abs(other));
      }
    }
    return expected;
  }
  std::vector<Expected> Reference() const override {
    std::vector<Expected> expected = {ReferenceOf(q, q_weight, q_out)};
    if (form.with_k) expected.push_back(ReferenceOf(k, k_weight, k_out));
    return expected;
  }

  bool norm;
  Form form;
  int64_t width;
  HostTensor q, q_out, k, k_out, q_weight, k_weight, cos_sin, index, cos, sin;
};

template <bool kNorm>
class LtxRopeSuite : public OpTest {
 protected:
  LtxRopeSuite() : OpTest(kNorm ? "qk_norm_rope" : "ltx_rope") {}
  bool Right(Case& call) {
    const double sum = kNorm ? std::log2(static_cast<double>(call.width)) : 0;
    return Matches(call, BoundFor(dtype(), 8 + sum));
  }
  void ExpectEveryWidthFormAndLayout() {
    // 1032 is a multiple of 6: every channel is turned.
    for (const int64_t width : {2, 6, 8, 32, 64, 66, 1032, 2048, 4096, 8192}) {
      SCOPED_TRACE(width);
      Case call(kNorm, {}, dtype(), width);
      const bool tuned = width >= 8 && width != 66 && (width < 8192 || dtype() != Dtype::kF32);
      EXPECT_TRUE(Right(call) || (!TakesEverything(GetParam()) && !tuned));
    }
    const Form forms[] = {{.dense = true}, {.with_k = false},   {.batched_index = true},
                          {.heads = 4},    {.odd_table = true}, {.dense = true, .heads = 2}};
    for (const Form& form : forms) {
      for (const Layout layout : AllLayouts()) {
        SCOPED_TRACE(LayoutName(layout));
        Case call(kNorm, form, dtype(), 64, layout);
        Right(call);
      }
    }
  }
  void ExpectSplitHeads() {
    // Of heads of 64 and 128 and of the widths of both of LTX-2's streams; the first two pairs of
    // 64 and 4096 are not turned by three axes.
    for (const auto& [width, head] : {std::pair<int64_t, int64_t>{64, 32},
                                      {64, 64},
                                      {192, 64},
                                      {1024, 64},
                                      {2048, 64},
                                      {2048, 128},
                                      {4096, 128},
                                      {8192, 128}}) {
      for (const int64_t axes : {1, 3}) {
        SCOPED_TRACE(testing::Message() << width << " " << head << " " << axes);
        Case call(kNorm, {.axes = axes, .split_head = head}, dtype(), width);
        const bool tuned = width < 8192 || dtype() != Dtype::kF32;
        EXPECT_TRUE(Right(call) || (!TakesEverything(GetParam()) && !tuned));
      }
    }
    const Form forms[] = {{.split_head = 6},
                          {.with_k = false, .axes = 1, .split_head = 32},
                          {.batched_index = true, .split_head = 32},
                          {.heads = 2, .split_head = 48},
                          {.odd_table = true, .axes = 1, .split_head = 32}};
    for (const Form& form : forms) {
      for (const Layout layout : AllLayouts()) {
        SCOPED_TRACE(LayoutName(layout));
        Case call(kNorm, form, dtype(), 96, layout);
        Right(call);
      }
    }
    Case by_time(kNorm, {.axes = 1}, dtype(), 64);  // pairs of neighbours
    EXPECT_TRUE(Right(by_time) || !TakesEverything(GetParam()));
  }
  void ExpectInPlaceAndPacked(int64_t split_head) {
    Case apart(kNorm, {.heads = 2, .split_head = split_head}, dtype(), 64);
    ASSERT_TRUE(Right(apart));
    // q, k and v side by side in [B,S,3,N,Dh]; v must stay as it is.
    HostTensor packed(dtype(), {2, Case::kTokens, 3, 2, 32});
    packed.FillNormal(77);
    const auto part_of = [](int64_t i) { return i / 64 % 3; };
    const auto index_in_part = [](int64_t i) { return i / 192 * 64 + i % 64; };
    packed.SetAll([&](int64_t i) {
      if (part_of(i) == 2) return 5.0;
      return (part_of(i) == 0 ? apart.q : apart.k).Get(index_in_part(i));
    });
    ForcedRun run(op_, GetParam());
    const TensorView all = run.Use(packed);
    const auto slice = [&](int64_t part) {
      TensorView view = Slice(all, 2, part, 1);
      view.rank = 4;
      view.sizes = {2, Case::kTokens, 2, 32};
      view.strides = {Case::kTokens * 192, 192, 32, 1};
      return view;
    };
    const auto call = [&](auto args, auto function) {
      args.q = args.q_out = slice(0);
      args.k = args.k_out = slice(1);
      return function(args, run.execution());
    };
    const absl::Status status =
        kNorm ? call(apart.NormArgs(run), QkNormRope) : call(apart.RopeArgs(run), LtxRope);
    ASSERT_TRUE(status.ok()) << status;
    run.Fetch();
    for (int64_t i = 0; i < packed.size(); ++i) {
      const double want = part_of(i) == 2
                              ? 5.0
                              : (part_of(i) == 0 ? apart.q_out : apart.k_out).Get(index_in_part(i));
      ASSERT_EQ(packed.Get(i), want) << i;
    }
  }
};
using LtxRopeTest = LtxRopeSuite<false>;
using QkNormRopeTest = LtxRopeSuite<true>;

INSTANTIATE_TEST_SUITE_P(Variants, LtxRopeTest, testing::ValuesIn(VariantsOf("ltx_rope")), NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, QkNormRopeTest, testing::ValuesIn(VariantsOf("qk_norm_rope")),
                         NameOf);

TEST_P(LtxRopeTest, EqualsTheReference) { ExpectEveryWidthFormAndLayout(); }
TEST_P(QkNormRopeTest, EqualsTheReference) { ExpectEveryWidthFormAndLayout(); }
TEST_P(LtxRopeTest, TurnsTheHalvesOfSplitHeads) { ExpectSplitHeads(); }
TEST_P(QkNormRopeTest, TurnsTheHalvesOfSplitHeads) { ExpectSplitHeads(); }
TEST_P(LtxRopeTest, TurnsPackedSlicesInPlaceAndLeavesTheRest) { ExpectInPlaceAndPacked(0); }
TEST_P(QkNormRopeTest, TurnsPackedSlicesInPlaceAndLeavesTheRest) { ExpectInPlaceAndPacked(0); }
TEST_P(LtxRopeTest, TurnsPackedSplitHeadsInPlace) { ExpectInPlaceAndPacked(32); }
TEST_P(QkNormRopeTest, TurnsPackedSplitHeadsInPlace) { ExpectInPlaceAndPacked(32); }

TEST_P(QkNormRopeTest, NeedsNeitherTableNorWeights) {
  for (const bool weighted : {false, true}) {
    Case call(true, {.turned = false, .weighted = weighted}, dtype(), 64);
    EXPECT_TRUE(Right(call));
  }
}

class LtxRopeRefusals : public RefusalTest {
 protected:
  LtxRopeRefusals() : RefusalTest("ltx_rope") {}
  void Refused(const std::function<void(QkNormRopeArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    QkNormRopeArgs args = call.NormArgs(run);
    change(args);
    ExpectRefused([&] { return QkNormRope(args, run.execution()); }, call.q_out, code, text);
  }
  Case call{true, {}, Dtype::kBf16, 64};
};

TEST_F(LtxRopeRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.k_out.reset(); }, kInvalid, "both be given or neither");
  Refused([](auto& args) { args.k = Slice(*args.k, 1, 0, 3); }, kInvalid, "must be equal: k ");
  Refused([](auto& args) { args.q_weight = Slice(*args.q_weight, 0, 0, 32); }, kInvalid, "[64]");
  Refused([](auto& args) { args.k_weight->dtype = Dtype::kF16; }, kInvalid, "k_weight is fp16");
  Refused([](auto& args) { args.eps = -1; }, kInvalid, "eps");
  Refused([](auto& args) { args.q.dtype = Dtype::kI64; }, kUnimplemented, "q is int64");
  Refused([](auto& args) { args.k_out = args.q_out; }, kInvalid, "overlaps another tensor");
  Refused(
      [](auto& args) { args.q = args.q_out = Contiguous(args.q.data, Dtype::kBf16, {2, 12, 63}); },
      kInvalid, "The width must be even");
}

TEST_F(LtxRopeRefusals, WantsOneFormOfTheTableThatFits) {
  Refused([](auto& args) { args.table->index.reset(); }, kInvalid, "either cos_sin and index");
  Refused([&](auto& args) { args.table->cos = call.cos.view(); }, kInvalid, "either cos_sin");
  Refused([](auto& args) { args.table->index = Slice(*args.table->index, 1, 0, 5); }, kInvalid,
          "The table does not fit the tokens: index");
  Refused([](auto& args) { args.table->cos_sin = Slice(*args.table->cos_sin, 1, 0, 5); }, kInvalid,
          "The table must be contiguous [R, 10, 2]");
  Refused([](auto& args) { args.table->index->dtype = Dtype::kI64; }, kUnimplemented, "int32");
  Refused([](auto& args) { args.table->index = Slice(*args.table->index, 2, 0, 1); }, kInvalid,
          "The table must be contiguous [R, 32, 2]");
  for (const int64_t head : {-32, 3, 48}) {
    Refused([=](auto& args) { args.table->split_head = head; }, kInvalid,
            "must be even parts of the width");
  }
}

TEST(MakeLtxRopeTable, GivesTheGoldenAnglesOfDiffusers) {
  // Width 2048, grid 7x16x24, 25 frames a second, token 1000.
  const auto table = MakeLtxRopeTable(7, 16, 24, 25, 2048);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->rows, 47);
  EXPECT_EQ(table->frequencies, 341);
  EXPECT_EQ(table->index.size(), 3U * 7 * 16 * 24);
  const auto value = [&](int64_t channel, size_t part) {
    const int64_t angle = (channel - 2048 % 6) / 2;
    const int32_t row = table->index[static_cast<size_t>(1000 * 3 + angle % 3)];
    return table->cos_sin[static_cast<size_t>((row * 341 + angle / 3) * 2) + part];
  };
  const float cosines[] = {.10036169f, .42755511f, .70710677f, .06012193f};
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(value(2 + 2 * i, 0), cosines[i], 2e-7f) << i;
  EXPECT_NEAR(value(2, 1), -.99495101f, 1e-7f);
  EXPECT_NEAR(value(4, 1), -.90398932f, 1e-7f);
}

TEST(MakeLtxRopeTable, RefusesWhatHasNoAngles) {
  EXPECT_FALSE(MakeLtxRopeTable(0, 1, 1, 25, 2048).ok());
  EXPECT_FALSE(MakeLtxRopeTable(1, 1, 1, 0, 2048).ok());
  EXPECT_FALSE(MakeLtxRopeTable(1, 1, 1, 25, 4).ok());
  EXPECT_TRUE(MakeLtxRopeTable(1, 1, 1, 25, 6).ok());
}

}  // namespace
}  // namespace reel::kernels
