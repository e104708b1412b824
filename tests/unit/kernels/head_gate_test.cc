// SPDX-License-Identifier: Apache-2.0
#include "kernels/head_gate/head_gate.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

struct Size {
  int64_t heads, head_width;
};

struct Case : OpCase {
  // `to`: the codes that it writes, or the type of x.
  Case(const Size& use, Dtype dtype, Dtype to, Layout layout = Layout::kContiguous)
      : size(use),
        is_coded(to != dtype),
        x(dtype, {2, 5, use.heads * use.head_width}, layout),
        logits(dtype, {2, 5, use.heads}, layout),
        out(to, {2, 5, use.heads * use.head_width}, layout),
        out_scale(Dtype::kF32, {2, 5}, layout) {
    x.FillNormal(1);
    logits.FillNormal(2);
  }
  Case(const Size& use, Dtype dtype, Layout layout = Layout::kContiguous)
      : Case(use, dtype, dtype, layout) {}
  HeadGateArgs Args(ForcedRun& run) {
    HeadGateArgs args{.x = run.Use(x), .logits = run.Use(logits), .out = run.Use(out)};
    if (is_coded) args.out_scale = run.Use(out_scale);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return HeadGate(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    if (is_coded) expected.scale = &out_scale;
    for (int64_t i = 0; i < out.size(); ++i) {
      const double value = x.Get(i) * 2 / (1 + std::exp(-logits.Get(i / size.head_width)));
      expected.Add(value, std::abs(value));
    }
    return {expected};
  }

  Size size;
  bool is_coded;
  HostTensor x, logits, out, out_scale;
};

class HeadGateTest : public OpTest {
 protected:
  HeadGateTest() : OpTest("head_gate") {}
  bool Right(Case& call) { return Matches(call, BoundFor(dtype(), 8)); }
};
INSTANTIATE_TEST_SUITE_P(Variants, HeadGateTest, testing::ValuesIn(VariantsOf("head_gate")),
                         NameOf);

TEST_P(HeadGateTest, EqualsTheReferenceForEveryNumberAndWidthOfHeads) {
  // The last two are those of LTX-2's streams.
  const Size tuned[] = {{1, 8}, {3, 16}, {32, 64}, {32, 128}};
  for (const Size& size : tuned) {
    SCOPED_TRACE(testing::Message() << size.heads << " " << size.head_width);
    Case call(size, dtype());
    EXPECT_TRUE(Right(call));
  }
  for (const Size& size : {Size{1, 1}, {5, 3}, {16, 4}, {7, 2}}) {
    SCOPED_TRACE(testing::Message() << size.heads << " " << size.head_width);
    Case call(size, dtype());
    Right(call);
  }
}

TEST_P(HeadGateTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    Case call({4, 16}, dtype(), layout);
    Right(call);
  }
}

TEST_P(HeadGateTest, GatesInPlace) {
  Case apart({4, 16}, dtype());
  ASSERT_TRUE(Right(apart));
  Case call({4, 16}, dtype());
  ForcedRun run(op_, GetParam());
  HeadGateArgs args = call.Args(run);
  args.out = args.x;
  const absl::Status status = HeadGate(args, run.execution());
  ASSERT_TRUE(status.ok()) << status;
  run.Fetch();
  for (int64_t i = 0; i < call.x.size(); ++i) ASSERT_EQ(call.x.Get(i), apart.out.Get(i)) << i;
}

TEST_P(HeadGateTest, ClosesAndOpensAtTheEndsOfTheRange) {
  Case call({2, 16}, dtype());
  call.logits.SetAll([](int64_t i) { return i % 2 == 0 ? -INFINITY : INFINITY; });
  ForcedRun run(op_, GetParam());
  const absl::Status status = HeadGate(call.Args(run), run.execution());
  ASSERT_TRUE(status.ok()) << status;
  run.Fetch();
  for (int64_t i = 0; i < call.out.size(); ++i) {
    ASSERT_EQ(call.out.Get(i), i / 16 % 2 == 0 ? 0 : 2 * call.x.Get(i)) << i;
  }
}

std::vector<OpVariant> CodeVariants() {
  std::vector<OpVariant> all = E4m3VariantsOf("head_gate");
  for (const OpVariant& variant : Int8VariantsOf("head_gate")) {
    if (!TakesEverything(variant)) all.push_back(variant);
  }
  return all;
}

class HeadGateCodesTest : public HeadGateTest {
 protected:
  // Whether the variant is for these codes; rows of fp32 become int8 by variants that take
  // everything alone.
  bool IsFor(Dtype codes) const {
    if (TakesEverything(GetParam())) return true;
    if (codes != Dtype::kI8) return absl::EndsWith(GetParam().variant, "_e4m3");
    return absl::EndsWith(GetParam().variant, "_int8") && dtype() != Dtype::kF32;
  }
  static constexpr Dtype kCodes[] = {Dtype::kE4m3, Dtype::kI8};
};
INSTANTIATE_TEST_SUITE_P(Variants, HeadGateCodesTest, testing::ValuesIn(CodeVariants()), NameOf);

TEST_P(HeadGateCodesTest, EqualsTheReferenceForEveryNumberAndWidthOfHeads) {
  for (const Dtype codes : kCodes) {
    // Of LTX-2's streams, of its attention between them, and a smaller one.
    for (const Size& size : {Size{32, 128}, {32, 64}, {16, 64}}) {
      SCOPED_TRACE(testing::Message() << size.heads << " " << size.head_width);
      Case call(size, dtype(), codes);
      EXPECT_EQ(Right(call), IsFor(codes));
    }
    for (const Size& size : {Size{4, 8}, {3, 32}, {12, 16}, {32, 1}, {64, 256}}) {
      SCOPED_TRACE(testing::Message() << size.heads << " " << size.head_width);
      Case call(size, dtype(), codes);
      Right(call);
    }
  }
}

TEST_P(HeadGateCodesTest, EqualsTheReferenceInEveryLayout) {
  for (const Dtype codes : kCodes) {
    for (const Layout layout : AllLayouts()) {
      SCOPED_TRACE(LayoutName(layout));
      Case call({32, 64}, dtype(), codes, layout);
      Right(call);
    }
  }
}

TEST_P(HeadGateCodesTest, MarksRowsThatAreNotFinite) {
  for (const Dtype codes : kCodes) {
    Case call({32, 128}, dtype(), codes);
    call.x.SetAll([](int64_t i) { return i == 5000 ? NAN : 1.0; });
    if (!Right(call)) continue;
    EXPECT_TRUE(std::isnan(call.out_scale.Get(1)));
    EXPECT_FALSE(std::isnan(call.out_scale.Get(0)));
  }
}

class HeadGateRefusals : public RefusalTest {
 protected:
  HeadGateRefusals() : RefusalTest("head_gate") {}
  void Refused(const std::function<void(HeadGateArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    HeadGateArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return HeadGate(args, run.execution()); }, call.out, code, text);
  }
  Case call{{4, 16}, Dtype::kBf16};
};

TEST_F(HeadGateRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.logits = Slice(args.logits, 1, 0, 4); }, kInvalid,
          "must have the rows and the dtype of x");
  Refused([](auto& args) { args.logits.dtype = Dtype::kF16; }, kInvalid, "the dtype of x");
  Refused([](auto& args) { args.logits = Slice(args.logits, 2, 0, 3); }, kInvalid,
          "3 heads do not fill a width of 64");
  Refused([](auto& args) { args.logits = Slice(args.logits, 2, 0, 0); }, kInvalid, "0 heads");
  Refused([](auto& args) { args.out = Slice(args.out, 1, 0, 4); }, kInvalid, "must be equal: out");
  Refused([](auto& args) { args.out = args.x, args.out.data = args.logits.data; }, kInvalid,
          "overlaps");
  Refused([](auto& args) { args.x.dtype = Dtype::kI64; }, kUnimplemented, "x is int64");
}

TEST_F(HeadGateRefusals, WantsAScaleForEachRowOfCodes) {
  Case coded({4, 16}, Dtype::kBf16, Dtype::kE4m3);
  HeadGateArgs args = coded.Args(run);
  args.out_scale.reset();
  ExpectRefused([&] { return HeadGate(args, run.execution()); }, coded.out, kInvalid, "out_scale");
  Refused([&](auto& plain) { plain.out_scale = run.Use(coded.out_scale); }, kInvalid,
          "belong to an output in codes");
}

TEST_F(HeadGateRefusals, LeavesEmptyTensorsAlone) {
  HeadGateArgs args = call.Args(run);
  args.x = Slice(args.x, 1, 0, 0);
  args.logits = Slice(args.logits, 1, 0, 0);
  args.out = Slice(args.out, 1, 0, 0);
  EXPECT_TRUE(HeadGate(args, run.execution()).ok());
}

}  // namespace
}  // namespace reel::kernels
