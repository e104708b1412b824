// SPDX-License-Identifier: Apache-2.0
// Further keys for queries that have met others already.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/unit/kernels/attention_case.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// By the definition: the output so far is one more value, the logarithm of its sum one more score.
struct RestCase : OpCase {
  RestCase(Dtype dtype, const AttentionSizes& of, Layout layout = Layout::kContiguous)
      : sizes(of),
        q(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
        k(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
        v(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
        before(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
        log_sums(Dtype::kF32, {of.batch, of.queries, of.heads}, layout),
        out(dtype, {of.batch, of.queries, of.heads, of.width}, layout) {
    q.FillNormal(1);
    k.FillNormal(2);
    v.FillNormal(3);
    before.FillNormal(4);
    log_sums.FillNormal(5, 4);
  }

  AttentionRestArgs Args(ForcedRun& run) {
    AttentionRestArgs args{.q = run.Use(q),
                           .k = run.Use(k),
                           .v = run.Use(v),
                           .before = run.Use(before),
                           .log_sums = run.Use(log_sums),
                           .out = {},
                           .scale = scale};
    args.out = in_place ? args.before : run.Use(out);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return AttentionRest(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{in_place ? &before : &out, {}, {}};
    const int64_t rows = sizes.batch * sizes.queries * sizes.heads;
    for (int64_t row = 0; row < rows; ++row) AddRow(row, expected);
    return {expected};
  }

  AttentionSizes sizes;
  HostTensor q, k, v, before, log_sums, out;
  double scale = 0;
  bool in_place = false;

 private:
  int64_t KeyAt(int64_t row, int64_t key) const {
    const int64_t head = row % sizes.heads, batch = row / sizes.heads / sizes.queries;
    return ((batch * sizes.keys + key) * sizes.heads + head) * sizes.width;
  }
  double Score(int64_t row, int64_t key) const {
    double dot = 0;
    for (int64_t i = 0; i < sizes.width; ++i) {
      dot += q.Get(row * sizes.width + i) * k.Get(KeyAt(row, key) + i);
    }
    return dot * (scale == 0 ? 1 / std::sqrt(static_cast<double>(sizes.width)) : scale);
  }
  void AddRow(int64_t row, Expected& expected) const {
    std::vector<double> weights = {log_sums.Get(row)};
    for (int64_t key = 0; key < sizes.keys; ++key) weights.push_back(Score(row, key));
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& each : weights) sum += each = std::exp(each - largest);
    for (int64_t i = 0; i < sizes.width; ++i) {
      double value = 0, magnitude = 0;
      for (size_t part = 0; part < weights.size(); ++part) {
        const double term = weights[part] / sum *
                            (part == 0 ? before.Get(row * sizes.width + i)
                                       : v.Get(KeyAt(row, static_cast<int64_t>(part) - 1) + i));
        if (weights[part] == 0) continue;
        value += term;
        magnitude += std::abs(term);
      }
      expected.Add(value, magnitude);
    }
  }
};

class AttentionRestTest : public OpTest {
 protected:
  AttentionRestTest() : OpTest("attention_rest") {}

  bool TakesAll() const { return TakesEverything(GetParam()); }
  // Tuned variants round their weights to the type.
  Bound bound() const {
    const double rounding = dtype() == Dtype::kF16 ? 0x1p-11 : 0x1p-8;
    return BoundFor(dtype(), 64 + (TakesAll() ? 0 : 2 * rounding * 0x1p24));
  }
  bool Takes(bool tuned = true) const { return TakesAll() || (tuned && dtype() != Dtype::kF32); }
  void ExpectRight(RestCase& call, bool tuned = true) {
    EXPECT_EQ(Matches(call, bound()), Takes(tuned));
  }
  bool Run(OpCase& call, const char* op) {
    ForcedRun run(op, GetParam());
    const absl::Status status = call.Call(run);
    if (!Takes() && status.code() == absl::StatusCode::kFailedPrecondition) return false;
    EXPECT_TRUE(status.ok()) << status;
    run.Fetch();
    return true;
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, AttentionRestTest,
                         testing::ValuesIn(VariantsOf("attention_rest")), NameOf);

TEST_P(AttentionRestTest, EqualsTheReferenceForEveryNumberOfKeys) {
  for (const int64_t width : {64, 128}) {
    for (const int64_t keys : {1, 2, 15, 32, 33, 64, 77, 127, 128}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, width " << width);
      RestCase call(dtype(), {.batch = 2, .queries = 9, .keys = keys, .heads = 2, .width = width});
      ExpectRight(call);
    }
  }
}

TEST_P(AttentionRestTest, EqualsTheReferenceForEveryNumberOfQueries) {
  for (const int64_t width : {64, 128}) {
    for (const int64_t queries : {1, 2, 15, 16, 63, 64, 65, 131, 520}) {
      SCOPED_TRACE(testing::Message() << queries << " queries, width " << width);
      RestCase call(dtype(),
                    {.batch = 1, .queries = queries, .keys = 13, .heads = 2, .width = width});
      ExpectRight(call);
    }
  }
}

TEST_P(AttentionRestTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    RestCase call(dtype(), {.queries = 35, .keys = 20, .width = 64}, layout);
    ExpectRight(call, layout == Layout::kContiguous || layout == Layout::kPadded);
  }
}

TEST_P(AttentionRestTest, MayWriteOverTheOutputSoFar) {
  for (const int64_t keys : {20, 64, 100}) {
    for (const int64_t width : {64, 128}) {
      RestCase apart(dtype(), {.queries = 70, .keys = keys, .width = width});
      RestCase over(dtype(), apart.sizes);
      over.in_place = true;
      if (!Run(apart, op_)) return;
      ASSERT_TRUE(Run(over, op_));
      EXPECT_TRUE(SameBits(apart.out, over.before));
    }
  }
}

TEST_P(AttentionRestTest, IsCrossAttentionWhereThereWasNoKey) {
  const AttentionSizes sizes{.queries = 35, .keys = 40, .width = 64};
  RestCase rest(dtype(), sizes);
  rest.log_sums.SetAll([](int64_t) { return kNone; });
  AttentionCase cross(dtype(), sizes);
  cross.cross = true;
  if (!Run(rest, op_)) return;
  ASSERT_TRUE(Run(cross, "cross_attention"));
  EXPECT_TRUE(SameBits(rest.out, cross.out));
}

TEST_P(AttentionRestTest, LeavesTheOutputAsItIsWhereNoFurtherKeyCounts) {
  RestCase call(dtype(), {.queries = 19, .keys = 40, .width = 64});
  call.log_sums.SetAll([](int64_t) { return 300.0; });
  if (!Run(call, op_)) return;
  EXPECT_TRUE(SameBits(call.out, call.before));
}

TEST_P(AttentionRestTest, StaysFiniteForScoresAndSumsOfAnySize) {
  for (const double size : {30.0, 1e3, 6e4}) {
    for (const double sum : {-1e4, 0.0, 1e4}) {
      SCOPED_TRACE(testing::Message() << size << ", " << sum);
      RestCase call(dtype(), {.batch = 1, .queries = 6, .keys = 40, .heads = 1, .width = 64});
      call.q.SetAll([&](int64_t i) { return i % 64 == 0 ? size : 0.0; });
      call.k.SetAll([&](int64_t i) { return i % 64 == 0 ? (i < 20 * 64 ? 1.0 : -1.0) : 0.0; });
      call.log_sums.SetAll([&](int64_t) { return sum; });
      ExpectRight(call);
    }
  }
}

TEST_P(AttentionRestTest, ShowsANanOfASumInItsRowAlone) {
  RestCase call(dtype(), {.batch = 1, .queries = 3, .keys = 20, .heads = 2, .width = 64});
  call.log_sums.Set(2, kNan);  // of query 1, head 0
  if (!Run(call, op_)) return;
  for (int64_t i = 0; i < call.out.size(); ++i) {
    ASSERT_EQ(std::isnan(call.out.Get(i)), i / 64 == 2) << i;
  }
}

TEST_P(AttentionRestTest, GivesARowTheSameBitsAloneAndAmongMany) {
  RestCase many(dtype(), {.batch = 3, .queries = 131, .keys = 64, .heads = 2, .width = 64});
  if (!Run(many, op_)) return;
  RestCase alone(dtype(), {.batch = 1, .queries = 1, .keys = 64, .heads = 1, .width = 64});
  const int64_t row = (2 * 131 + 109) * 2 + 1;
  const auto key = [&](int64_t i) { return ((2 * 64 + i / 64) * 2 + 1) * 64 + i % 64; };
  alone.q.SetAll([&](int64_t i) { return many.q.Get(row * 64 + i); });
  alone.before.SetAll([&](int64_t i) { return many.before.Get(row * 64 + i); });
  alone.log_sums.SetAll([&](int64_t) { return many.log_sums.Get(row); });
  alone.k.SetAll([&](int64_t i) { return many.k.Get(key(i)); });
  alone.v.SetAll([&](int64_t i) { return many.v.Get(key(i)); });
  ASSERT_TRUE(Run(alone, op_));
  for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 64 + i)) << i;
}

TEST_P(AttentionRestTest, TakesEmptyTensors) {
  for (const AttentionSizes& sizes :
       {AttentionSizes{.batch = 0, .width = 64}, AttentionSizes{.queries = 0, .width = 64}}) {
    RestCase call(dtype(), sizes);
    ExpectRight(call);
  }
}

class AttentionRestRefusals : public RefusalTest {
 protected:
  AttentionRestRefusals() : RefusalTest("attention_rest") {}
};

TEST_F(AttentionRestRefusals, RefusesWhatDoesNotFit) {
  RestCase call(Dtype::kF32, {.width = 64});
  const auto refused = [&](auto change, absl::StatusCode code, const std::string& text) {
    AttentionRestArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return AttentionRest(args, run.execution()); }, call.out, code, text);
  };
  HostTensor sums(Dtype::kF32, {2, 3, 5}), half(Dtype::kF16, {2, 5, 3});
  refused([&](AttentionRestArgs& args) { args.log_sums = sums.view(); }, kInvalid, "log_sums");
  refused([&](AttentionRestArgs& args) { args.log_sums = half.view(); }, kUnimplemented,
          "log_sums");
  refused([&](AttentionRestArgs& args) { args.before = args.k; }, kInvalid, "before");
  refused([&](AttentionRestArgs& args) { args.out = args.q; }, kInvalid, "out");
  refused([&](AttentionRestArgs& args) { args.scale = -1; }, kInvalid, "scale");
  RestCase many(Dtype::kF32, {.keys = 129, .width = 64});
  ExpectRefused([&] { return AttentionRest(many.Args(run), run.execution()); }, many.out,
                absl::StatusCode::kFailedPrecondition, "1 to 128 keys");
}

}  // namespace
}  // namespace reel::kernels
