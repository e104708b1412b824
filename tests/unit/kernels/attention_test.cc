// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch = 2, queries = 5, keys = 7, heads = 3, width = 8;
};

// By the definition: all scores of all queries first, then their softmax, then the sums.
struct Case : OpCase {
  Case(Dtype dtype, const Sizes& of, Layout layout = Layout::kContiguous,
       const std::vector<int64_t>& bias_sizes = {})
      : sizes(of),
        q(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
        k(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
        v(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
        out(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
        bias(dtype, bias_sizes.empty() ? std::vector<int64_t>{1, 1, 1, of.keys} : bias_sizes),
        lengths(Dtype::kI32, {of.batch}),
        q_scale(Dtype::kF32, {of.batch, of.queries}),
        has_bias(!bias_sizes.empty()) {
    q.FillNormal(1);
    k.FillNormal(2);
    v.FillNormal(3);
    bias.FillNormal(4);
    q_scale.FillNormal(5);
  }

  AttentionArgs Args(ForcedRun& run) {
    AttentionArgs args{.q = run.Use(q),
                       .k = run.Use(k),
                       .v = run.Use(v),
                       .bias = std::nullopt,
                       .key_lengths = std::nullopt,
                       .q_scale = std::nullopt,
                       .out = run.Use(out),
                       .scale = scale};
    if (has_bias) args.bias = run.Use(bias);
    if (has_lengths) args.key_lengths = run.Use(lengths);
    if (has_q_scale) args.q_scale = run.Use(q_scale);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return Attention(Args(run), run.execution()); }

  double BiasAt(int64_t b, int64_t s, int64_t n, int64_t l) const {
    if (!has_bias) return 0;
    const TensorView view = bias.view();
    const auto at = [&](int dim, int64_t index) { return view.size(dim) == 1 ? 0 : index; };
    return bias.Get(
        ((at(0, b) * view.size(1) + at(1, n)) * view.size(2) + at(2, s)) * view.size(3) + l);
  }
  double Score(int64_t b, int64_t s, int64_t n, int64_t l) const {
    if (has_lengths && l >= static_cast<int64_t>(lengths.Get(b))) return -kInf;
    double dot = 0;
    for (int64_t i = 0; i < sizes.width; ++i) {
      dot += q.Get(((b * sizes.queries + s) * sizes.heads + n) * sizes.width + i) *
             k.Get(((b * sizes.keys + l) * sizes.heads + n) * sizes.width + i);
    }
    const double by = scale == 0 ? 1 / std::sqrt(static_cast<double>(sizes.width)) : scale;
    return by * (has_q_scale ? q_scale.Get(b * sizes.queries + s) : 1) * dot + BiasAt(b, s, n, l);
  }
  void AddRow(int64_t b, int64_t s, int64_t n, Expected& expected) const {
    std::vector<double> p;
    for (int64_t l = 0; l < sizes.keys; ++l) p.push_back(Score(b, s, n, l));
    const double largest = p.empty() ? -kInf : *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& each : p) sum += each = largest == -kInf ? 0 : std::exp(each - largest);
    for (int64_t i = 0; i < sizes.width; ++i) {
      double value = 0, magnitude = 0;
      for (int64_t l = 0; l < sizes.keys && sum > 0; ++l) {
        const double term = p[static_cast<size_t>(l)] / sum *
                            v.Get(((b * sizes.keys + l) * sizes.heads + n) * sizes.width + i);
        value += term;
        magnitude += std::abs(term);
      }
      expected.Add(value, magnitude);
    }
  }
  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    for (int64_t b = 0; b < sizes.batch; ++b) {
      for (int64_t s = 0; s < sizes.queries; ++s) {
        for (int64_t n = 0; n < sizes.heads; ++n) AddRow(b, s, n, expected);
      }
    }
    return {expected};
  }

  Sizes sizes;
  HostTensor q, k, v, out, bias, lengths, q_scale;
  bool has_bias, has_lengths = false, has_q_scale = false;
  double scale = 0;
};

class AttentionTest : public OpTest {
 protected:
  AttentionTest() : OpTest("attention") {}
  Bound bound() const { return BoundFor(dtype(), 64); }
};
INSTANTIATE_TEST_SUITE_P(Rows, AttentionTest, testing::ValuesIn(VariantsOf("attention")), NameOf);

TEST_P(AttentionTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    Case call(dtype(), {}, layout);
    ExpectMatch(call, bound());
  }
}

TEST_P(AttentionTest, EqualsTheReferenceForEveryNumberOfKeys) {
  for (const int64_t keys : {1, 2, 77, 127, 128, 129}) {
    SCOPED_TRACE(keys);
    Case call(dtype(), {.batch = 1, .queries = 3, .keys = keys, .heads = 2, .width = 64});
    ExpectMatch(call, bound());
  }
}

TEST_P(AttentionTest, AddsABiasOfEveryForm) {
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{1, 1, 1, 7}, {2, 1, 1, 7}, {1, 3, 5, 7}, {2, 3, 5, 7}}) {
    Case call(dtype(), {}, Layout::kContiguous, sizes);
    ExpectMatch(call, bound());
  }
}

TEST_P(AttentionTest, LeavesOutTheKeysBeyondALength) {
  Case call(dtype(), {});
  call.has_lengths = true;
  call.lengths.Set(0, 4);
  call.lengths.Set(1, 0);
  ExpectMatch(call, bound());
  for (int64_t i = call.out.size() / 2; i < call.out.size(); ++i) ASSERT_EQ(call.out.Get(i), 0);
}

TEST_P(AttentionTest, EqualsALargeNegativeBiasAndALength) {
  Case biased(dtype(), {}, Layout::kContiguous, {1, 1, 1, 7});
  biased.bias.SetAll([](int64_t i) { return i < 4 ? 0.0 : -10000.0; });
  Case cut(dtype(), {});
  cut.has_lengths = true;
  cut.lengths.SetAll([](int64_t) { return 4; });
  ExpectMatch(biased, bound());
  ExpectMatch(cut, bound());
  EXPECT_TRUE(SameBits(biased.out, cut.out));
}

TEST_P(AttentionTest, TakesScalesOfTheCallAndOfItsQueries) {
  Case call(dtype(), {});
  call.scale = 1;
  call.has_q_scale = true;
  ExpectMatch(call, bound());
}

TEST_P(AttentionTest, GivesZerosWhereEveryKeyIsMaskedAndNanForNan) {
  Case call(dtype(), {}, Layout::kContiguous, {1, 1, 1, 7});
  call.bias.SetAll([](int64_t) { return -kInf; });
  ExpectMatch(call, bound());
  Case nan(dtype(), {});
  nan.q.Set(0, std::numeric_limits<double>::quiet_NaN());
  ForcedRun run(op_, GetParam());
  ASSERT_TRUE(nan.Call(run).ok());
  EXPECT_TRUE(std::isnan(nan.out.Get(0)));
  EXPECT_FALSE(std::isnan(nan.out.Get(nan.sizes.width)));
}

TEST_P(AttentionTest, TakesEmptyTensors) {
  Case none(dtype(), {.batch = 0});
  ExpectMatch(none, bound());
  Case keyless(dtype(), {.keys = 0});
  ExpectMatch(keyless, bound());
}

TEST_P(AttentionTest, IsWhatCrossAttentionComputes) {
  const Sizes sizes{.batch = 2, .queries = 3, .keys = 128, .heads = 2, .width = 64};
  Case one(dtype(), sizes), other(dtype(), sizes);
  ForcedRun run("attention", GetParam());
  ASSERT_TRUE(Attention(one.Args(run), run.execution()).ok());
  ForcedRun cross("cross_attention", GetParam());
  ASSERT_TRUE(CrossAttention(other.Args(cross), cross.execution()).ok());
  EXPECT_EQ(cross.calls(), 1);
  EXPECT_TRUE(SameBits(one.out, other.out));
}

class AttentionRefusals : public RefusalTest {
 protected:
  AttentionRefusals() : RefusalTest("attention"), call(Dtype::kBf16, {}) { args = call.Args(run); }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return Attention(args, run.execution()); }, call.out, code, text);
  }
  Case call;
  AttentionArgs args;
};

TEST_F(AttentionRefusals, WantsSizesAndTypesThatFit) {
  args.k = Slice(args.k, 2, 0, 2);
  Refused(kInvalid, "q and k must have the same");
  args = call.Args(run);
  args.v = Slice(args.v, 1, 0, 6);
  Refused(kInvalid, "v");
  args = call.Args(run);
  args.q.dtype = Dtype::kF64;
  Refused(kUnimplemented, "q is fp64");
}

TEST_F(AttentionRefusals, WantsABiasThatCanBeRepeated) {
  HostTensor bias(Dtype::kBf16, {1, 2, 1, 7});
  args.bias = bias.view();
  Refused(kInvalid, "The bias must be");
}

TEST_F(AttentionRefusals, WantsOneLengthAndOneScaleWhereTheyBelong) {
  HostTensor lengths(Dtype::kI32, {3});
  args.key_lengths = lengths.view();
  Refused(kInvalid, "key_lengths");
  args.key_lengths.reset();
  HostTensor scales(Dtype::kF32, {2, 4});
  args.q_scale = scales.view();
  Refused(kInvalid, "q_scale");
}

TEST_F(AttentionRefusals, WantsAnOutputOfItsOwnAndAFiniteScale) {
  args.out = args.q;
  Refused(kInvalid, "overlaps another tensor");
  args = call.Args(run);
  args.scale = kInf;
  Refused(kInvalid, "scale must be finite");
}

TEST_F(AttentionRefusals, SendsLongPromptsAndOtherHeadsToAttention) {
  Case narrow(Dtype::kBf16, {});
  ForcedRun cross("cross_attention", {.variant = "loops", .dtype = Dtype::kBf16, .on_gpu = false});
  ExpectRefused([&] { return CrossAttention(narrow.Args(cross), cross.execution()); }, narrow.out,
                absl::StatusCode::kFailedPrecondition, "attention takes others");
  Case many(Dtype::kBf16, {.batch = 1, .queries = 1, .keys = 129, .heads = 1, .width = 64});
  ExpectRefused([&] { return CrossAttention(many.Args(cross), cross.execution()); }, many.out,
                absl::StatusCode::kFailedPrecondition, "1 to 128 keys");
}

}  // namespace
}  // namespace reel::kernels
