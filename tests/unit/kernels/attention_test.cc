// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/attention_case.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Sizes = AttentionSizes;
using Case = AttentionCase;

class AttentionTest : public OpTest {
 protected:
  AttentionTest() : OpTest("attention") {}
  Bound bound() const { return BoundFor(dtype(), 64); }
};
INSTANTIATE_TEST_SUITE_P(Variants, AttentionTest, testing::ValuesIn(VariantsOf("attention")),
                         NameOf);

TEST_P(AttentionTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    Case call(dtype(), {}, layout);
    ExpectMatch(call, bound());
  }
}

TEST_P(AttentionTest, EqualsTheReferenceForEveryNumberOfKeys) {
  for (const int64_t keys : {1, 2, 77, 127, 128, 129, 1000}) {
    SCOPED_TRACE(keys);
    Case call(dtype(), {.batch = 1, .queries = 3, .keys = keys, .heads = 2, .width = 64});
    ExpectMatch(call, bound());
  }
}

TEST_P(AttentionTest, EqualsTheReferenceForHeadsOfAnyWidth) {
  for (const int64_t width : {1, 31, 33, 64, 128, 130, 300}) {
    SCOPED_TRACE(width);
    Case call(dtype(), {.batch = 2, .queries = 3, .keys = 9, .heads = 2, .width = width});
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

TEST_P(AttentionTest, GivesZerosWhereEveryKeyIsMasked) {
  Case call(dtype(), {}, Layout::kContiguous, {1, 1, 1, 7});
  call.bias.SetAll([](int64_t) { return -kInf; });
  ExpectMatch(call, bound());
  for (int64_t i = 0; i < call.out.size(); ++i) ASSERT_EQ(call.out.Get(i), 0);
}

TEST_P(AttentionTest, ShowsANanInItsRowAlone) {
  Case nan(dtype(), {}, Layout::kContiguous, {1, 1, 1, 7});
  nan.bias.SetAll([](int64_t i) { return i == 6 ? -kInf : 0.0; });  // after a score of NaN
  nan.q.Set(0, std::numeric_limits<double>::quiet_NaN());
  ForcedRun run(op_, GetParam());
  ASSERT_TRUE(nan.Call(run).ok());
  run.Fetch();
  for (int64_t i = 0; i < nan.out.size(); ++i) {
    ASSERT_EQ(std::isnan(nan.out.Get(i)), i < nan.sizes.width) << i;
  }
}

TEST_P(AttentionTest, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {.batch = 2, .queries = 37, .keys = 50, .heads = 2, .width = 40});
  Case alone(dtype(), {.batch = 1, .queries = 1, .keys = 50, .heads = 1, .width = 40});
  const int64_t query = ((37 + 30) * 2 + 1) * 40;  // of batch 1, row 30, head 1
  const auto key = [](int64_t i) { return ((50 + i / 40) * 2 + 1) * 40 + i % 40; };
  alone.q.SetAll([&](int64_t i) { return many.q.Get(query + i); });
  alone.k.SetAll([&](int64_t i) { return many.k.Get(key(i)); });
  alone.v.SetAll([&](int64_t i) { return many.v.Get(key(i)); });
  ExpectMatch(many, bound());
  ExpectMatch(alone, bound());
  for (int64_t i = 0; i < 40; ++i) ASSERT_EQ(alone.out.Get(i), many.out.Get(query + i)) << i;
}

TEST_P(AttentionTest, TakesEmptyTensors) {
  Case none(dtype(), {.batch = 0});
  ExpectMatch(none, bound());
  Case keyless(dtype(), {.keys = 0});
  ExpectMatch(keyless, bound());
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
