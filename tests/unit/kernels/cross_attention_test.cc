// SPDX-License-Identifier: Apache-2.0
// Attention over the keys of a prompt: its variants have forms of their own beside attention's.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/unit/kernels/attention_case.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case : AttentionCase {
  Case(Dtype dtype, const AttentionSizes& of, Layout layout = Layout::kContiguous,
       const std::vector<int64_t>& bias_sizes = {})
      : AttentionCase(dtype, of, layout, bias_sizes) {
    cross = true;
  }
};

class CrossAttentionTest : public OpTest {
 protected:
  CrossAttentionTest() : OpTest("cross_attention") {}

  bool TakesAll() const { return TakesEverything(GetParam()); }
  // Tuned variants round their weights to the type.
  Bound bound() const {
    const double rounding = dtype() == Dtype::kF16 ? 0x1p-11 : 0x1p-8;
    return BoundFor(dtype(), 64 + (TakesAll() ? 0 : 2 * rounding * 0x1p24));
  }
  // The tuned variants take 16-bit types, and of these what `tuned` says.
  bool Takes(bool tuned = true) const { return TakesAll() || (tuned && dtype() != Dtype::kF32); }
  void ExpectRight(Case& call, bool tuned = true) {
    EXPECT_EQ(Matches(call, bound()), Takes(tuned));
  }
  // False when the variant does not take the call.
  bool Run(Case& call) {
    ForcedRun run(op_, GetParam());
    const absl::Status status = call.Call(run);
    if (!Takes() && status.code() == absl::StatusCode::kFailedPrecondition) return false;
    EXPECT_TRUE(status.ok()) << status;
    run.Fetch();
    return true;
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, CrossAttentionTest,
                         testing::ValuesIn(VariantsOf("cross_attention")), NameOf);

TEST_P(CrossAttentionTest, EqualsTheReferenceForEveryNumberOfKeys) {
  for (const int64_t width : {64, 128}) {
    for (const int64_t keys : {1, 2, 8, 15, 64, 77, 127, 128}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, width " << width);
      Case call(dtype(), {.batch = 2, .queries = 9, .keys = keys, .heads = 2, .width = width});
      ExpectRight(call);
    }
  }
}

TEST_P(CrossAttentionTest, EqualsTheReferenceForEveryNumberOfQueries) {
  for (const int64_t width : {64, 128}) {
    for (const int64_t queries : {1, 2, 31, 32, 63, 64, 65, 131, 520}) {
      SCOPED_TRACE(testing::Message() << queries << " queries, width " << width);
      Case call(dtype(), {.batch = 1, .queries = queries, .keys = 13, .heads = 2, .width = width});
      ExpectRight(call);
    }
  }
}

TEST_P(CrossAttentionTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    Case call(dtype(), {.queries = 35, .keys = 20, .width = 64}, layout);
    ExpectRight(call, layout == Layout::kContiguous || layout == Layout::kPadded);
  }
}

// One of the tensors that a projection made together, [B, S, 2, N, Dh].
TensorView PartOf(TensorView packed, int64_t part) {
  TensorView view = Slice(packed, 2, part, 1);
  for (const size_t d : {2u, 3u}) {
    view.sizes[d] = view.sizes[d + 1];
    view.strides[d] = view.strides[d + 1];
  }
  view.rank = 4;
  return view;
}
// And its elements.
void CopyPart(const HostTensor& from, HostTensor& packed, int64_t part, int64_t row) {
  packed.SetAll([&](int64_t i) {
    return i / row % 2 == part ? from.Get(i / (2 * row) * row + i % row) : packed.Get(i);
  });
}

TEST_P(CrossAttentionTest, TakesPartsOfPackedProjectionsAsTheyLie) {
  const AttentionSizes sizes{.batch = 2, .queries = 35, .keys = 20, .heads = 3, .width = 64};
  Case apart(dtype(), sizes);
  const int64_t row = sizes.heads * sizes.width;
  HostTensor queries(dtype(), {2, 35, 2, 3, 64}), keys(dtype(), {2, 20, 2, 3, 64});
  HostTensor out(dtype(), {2, 35, 2, 3, 64});
  CopyPart(apart.q, queries, 1, row);
  CopyPart(apart.k, keys, 0, row);
  CopyPart(apart.v, keys, 1, row);
  out.SetAll([](int64_t i) { return static_cast<double>(i % 7); });
  if (!Run(apart)) return;
  ForcedRun run(op_, GetParam());
  AttentionArgs args = apart.Args(run);
  args.q = PartOf(run.Use(queries), 1);
  args.k = PartOf(run.Use(keys), 0);
  args.v = PartOf(run.Use(keys), 1);
  args.out = PartOf(run.Use(out), 0);
  ASSERT_TRUE(CrossAttention(args, run.execution()).ok());
  run.Fetch();
  for (int64_t i = 0; i < out.size(); ++i) {
    const bool ours = i / row % 2 == 0;
    ASSERT_EQ(out.Get(i),
              ours ? apart.out.Get(i / (2 * row) * row + i % row) : static_cast<double>(i % 7))
        << i;
  }
}

TEST_P(CrossAttentionTest, AddsABiasOfEveryFormAndType) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {1, 1, 1, 21}, {2, 1, 1, 21}, {1, 3, 1, 21}, {1, 1, 19, 21}, {2, 3, 19, 21}}) {
    for (const Dtype type : {dtype(), Dtype::kF32}) {
      for (const Layout layout : {Layout::kContiguous, Layout::kStrided}) {
        for (const int64_t width : {64, 128}) {
          Case call(dtype(), {.queries = 19, .keys = 21, .width = width}, Layout::kContiguous,
                    sizes);
          call.bias = HostTensor(type, sizes, layout);
          call.bias.FillNormal(6);
          ExpectRight(call);
        }
      }
    }
  }
}

TEST_P(CrossAttentionTest, NeverSeesTheKeysBeyondALength) {
  for (const int64_t width : {64, 128}) {
    Case call(dtype(), {.batch = 5, .queries = 3, .keys = 40, .heads = 2, .width = width});
    call.has_lengths = true;
    const int64_t lengths[] = {17, 0, 200, -3, 40};
    call.lengths.SetAll([&](int64_t i) { return static_cast<double>(lengths[i]); });
    const int64_t row = 2 * width;
    for (int64_t i = 17 * row; i < 40 * row; ++i) {
      call.k.Set(i, kNan);
      call.v.Set(i, kInf);
    }
    ExpectRight(call);
    if (!Takes()) continue;
    for (const int64_t batch : {1, 3}) {
      for (int64_t i = 0; i < 3 * row; ++i) ASSERT_EQ(call.out.Get(batch * 3 * row + i), 0);
    }
  }
}

TEST_P(CrossAttentionTest, EqualsALargeNegativeBiasAndALength) {
  const AttentionSizes sizes{.queries = 5, .keys = 30, .width = 64};
  Case biased(dtype(), sizes, Layout::kContiguous, {1, 1, 1, 30});
  biased.bias.SetAll([](int64_t i) { return i < 18 ? 0.0 : -10000.0; });
  Case cut(dtype(), sizes);
  cut.has_lengths = true;
  cut.lengths.SetAll([](int64_t) { return 18; });
  if (!Run(biased) || !Run(cut)) return;
  EXPECT_TRUE(SameBits(biased.out, cut.out));
}

TEST_P(CrossAttentionTest, TakesScalesOfTheCallAndOfItsQueries) {
  Case call(dtype(), {.queries = 37, .keys = 20, .width = 64});
  call.scale = 0.2;
  call.has_q_scale = true;  // of both signs
  ExpectRight(call);
}

TEST_P(CrossAttentionTest, GivesZerosWhereEveryKeyIsMasked) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{1, 1, 1, 20}, {1, 1, 4, 20}}) {
    Case call(dtype(), {.queries = 4, .keys = 20, .width = 64}, Layout::kContiguous, sizes);
    call.bias.SetAll([](int64_t) { return -kInf; });
    if (!Run(call)) return;
    for (int64_t i = 0; i < call.out.size(); ++i) ASSERT_EQ(call.out.Get(i), 0);
  }
}

TEST_P(CrossAttentionTest, ShowsWhatIsNotFiniteInItsRowAlone) {
  for (const double value : {kNan, kInf}) {
    Case call(dtype(), {.batch = 1, .queries = 3, .keys = 20, .heads = 2, .width = 64},
              Layout::kContiguous, {1, 1, 1, 20});
    call.bias.SetAll([](int64_t i) { return i == 19 ? -kInf : 0.0; });
    call.q.Set(2 * 64 + 5, value);  // of query 1, head 0
    if (!Run(call)) return;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      ASSERT_EQ(std::isfinite(call.out.Get(i)), i / 64 != 2) << i;
    }
  }
}

TEST_P(CrossAttentionTest, SeesANanOfAKeyInEveryQueryOfItsHead) {
  Case call(dtype(), {.batch = 1, .queries = 3, .keys = 20, .heads = 2, .width = 64});
  call.k.Set((7 * 2 + 1) * 64 + 63, kNan);  // of key 7, head 1
  if (!Run(call)) return;
  for (int64_t i = 0; i < call.out.size(); ++i) {
    ASSERT_EQ(std::isnan(call.out.Get(i)), i / 64 % 2 == 1) << i;
  }
}

// A score of minus infinity alone leaves no key, and no NaN of zeros behind the last.
TEST_P(CrossAttentionTest, GivesZerosForAnInfiniteQueryThatNoKeyFits) {
  Case call(dtype(), {.batch = 1, .queries = 2, .keys = 1, .heads = 1, .width = 64});
  call.q.Set(3, kInf);
  call.k.Set(3, -1);
  if (!Run(call)) return;
  for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(call.out.Get(i), 0);
}

TEST_P(CrossAttentionTest, StaysFiniteForScoresOfAnySize) {
  for (const double size : {30.0, 1e3, 6e3, 6e4}) {  // scores to 3e10
    SCOPED_TRACE(size);
    Case call(dtype(), {.batch = 1, .queries = 6, .keys = 40, .heads = 1, .width = 64});
    call.q.SetAll([&](int64_t i) { return i % 64 == 0 ? size : 0.0; });
    call.k.SetAll([&](int64_t i) { return i % 64 == 0 ? size * (i < 20 * 64 ? 1 : -1) : 0.0; });
    ExpectRight(call);
  }
}

// Weights below the normal numbers of fp16, on values that make up for it.
TEST_P(CrossAttentionTest, KeepsSmallWeights) {
  Case call(dtype(), {.batch = 1, .queries = 5, .keys = 30, .heads = 1, .width = 64},
            Layout::kContiguous, {1, 1, 1, 30});
  call.bias.SetAll([](int64_t i) { return i == 0 ? 0.0 : -17.0; });
  call.v.SetAll([&](int64_t i) { return i < 64 ? 0.0 : 3e4 + 1e3 * static_cast<double>(i % 7); });
  ExpectRight(call);
}

TEST_P(CrossAttentionTest, GivesARowTheSameBitsAloneAndAmongMany) {
  for (const int64_t width : {64, 128}) {
    for (const int64_t bias_rows : {1, 131}) {
      Case many(dtype(), {.batch = 3, .queries = 131, .keys = 77, .heads = 2, .width = width},
                Layout::kContiguous, {1, 1, bias_rows, 77});
      if (!Run(many)) return;
      Case alone(dtype(), {.batch = 1, .queries = 1, .keys = 77, .heads = 1, .width = width},
                 Layout::kContiguous, {1, 1, 1, 77});
      const int64_t b = 2, s = 109, n = 1;
      const auto key = [&](int64_t i) {
        return ((b * 77 + i / width) * 2 + n) * width + i % width;
      };
      alone.q.SetAll([&](int64_t i) { return many.q.Get(((b * 131 + s) * 2 + n) * width + i); });
      alone.k.SetAll([&](int64_t i) { return many.k.Get(key(i)); });
      alone.v.SetAll([&](int64_t i) { return many.v.Get(key(i)); });
      alone.bias.SetAll(
          [&](int64_t i) { return many.bias.Get((bias_rows == 1 ? 0 : s) * 77 + i); });
      ASSERT_TRUE(Run(alone));
      for (int64_t i = 0; i < width; ++i) {
        ASSERT_EQ(alone.out.Get(i), many.out.Get(((b * 131 + s) * 2 + n) * width + i)) << i;
      }
    }
  }
}

TEST_P(CrossAttentionTest, TakesEmptyTensors) {
  for (const AttentionSizes& sizes :
       {AttentionSizes{.batch = 0, .width = 64}, AttentionSizes{.queries = 0, .width = 64}}) {
    Case call(dtype(), sizes);
    ExpectRight(call);
  }
}

TEST_P(CrossAttentionTest, IsChosenByStridesNotByTheNumberOfQueries) {
  const KernelPlan plan = *DeviceUnderTest().catalog().Plan("auto", {});
  const auto chosen = [&](int64_t queries, Layout layout) {
    Case call(dtype(), {.queries = queries, .keys = 20, .width = 64}, layout);
    ForcedRun tensors(op_, GetParam());
    KernelCounters counters;
    const Execution run{
        .plan = plan, .counters = counters, .timer = nullptr, .stream = DeviceUnderTest().stream()};
    EXPECT_TRUE(CrossAttention(call.Args(tensors), run).ok());
    tensors.Fetch();
    return counters.Uses().at(0).variant;
  };
  const std::string one = chosen(1, Layout::kContiguous);
  EXPECT_EQ(one, chosen(2, Layout::kContiguous));
  EXPECT_EQ(one, chosen(131, Layout::kContiguous));
  EXPECT_EQ(chosen(1, Layout::kOffset), chosen(131, Layout::kOffset));
}

}  // namespace
}  // namespace reel::kernels
