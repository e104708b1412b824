// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/norm_test.h"

namespace reel::kernels {
namespace {

struct Case : NormCase {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout = Layout::kContiguous,
       bool weighted = true, bool biased = true)
      : NormCase(NormKind::kLayer, 1e-5, dtype, sizes, layout) {
    AddRows("out");
    if (weighted) AddVector("weight", dtype, {width()});
    if (biased) AddVector("bias", dtype, {width()});
  }
  FusedArgs Args(ForcedRun& run) {
    return {.x = Use(run, "x"),
            .weight = Maybe(run, "weight"),
            .bias = Maybe(run, "bias"),
            .out = Use(run, "out"),
            .eps = eps()};
  }
  absl::Status Call(ForcedRun& run) override { return LayerNorm(Args(run), run.execution()); }
};

struct ResidualCase : Case {
  ResidualCase(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout = Layout::kContiguous)
      : Case(dtype, sizes, layout) {
    AddRows("residual");
    AddRows("sum");
  }
  FusedArgs ResidualArgs(ForcedRun& run) {
    return {.x = Use(run, "x"),
            .residual = Use(run, "residual"),
            .weight = Maybe(run, "weight"),
            .bias = Maybe(run, "bias"),
            .sum = Use(run, "sum"),
            .out = Use(run, "out"),
            .eps = eps()};
  }
  absl::Status Call(ForcedRun& run) override {
    return LayerNormResidual(ResidualArgs(run), run.execution());
  }
};

class LayerNormTest : public NormTest {
 protected:
  LayerNormTest() : NormTest("layer_norm") {}
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<Case>(dtype(), sizes, layout);
  };
};
class LayerNormResidualTest : public NormTest {
 protected:
  LayerNormResidualTest() : NormTest("layer_norm_residual") {}
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<ResidualCase>(dtype(), sizes, layout);
  };
};

INSTANTIATE_TEST_SUITE_P(Variants, LayerNormTest, testing::ValuesIn(VariantsOf("layer_norm")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, LayerNormResidualTest,
                         testing::ValuesIn(VariantsOf("layer_norm_residual")), NameOf);

TEST_P(LayerNormTest, EqualsTheReferenceAtEveryWidth) { ExpectMatchesAtEveryWidth(make); }
TEST_P(LayerNormTest, EqualsTheReferenceInEveryLayout) { ExpectMatchesInEveryLayout(make); }
TEST_P(LayerNormTest, GivesARowTheSameBitsAlone) { ExpectSameBitsAlone(make); }
TEST_P(LayerNormTest, TakesEmptyTensors) { ExpectTakesEmptyTensors(make); }
TEST_P(LayerNormResidualTest, EqualsTheReferenceAtEveryWidth) { ExpectMatchesAtEveryWidth(make); }
TEST_P(LayerNormResidualTest, EqualsTheReferenceInEveryLayout) { ExpectMatchesInEveryLayout(make); }
TEST_P(LayerNormResidualTest, GivesARowTheSameBitsAlone) { ExpectSameBitsAlone(make); }
TEST_P(LayerNormResidualTest, TakesEmptyTensors) { ExpectTakesEmptyTensors(make); }

TEST_P(LayerNormTest, NeedsNeitherWeightNorBias) {
  for (const bool weighted : {false, true}) {
    for (const bool biased : {false, true}) {
      Case call(dtype(), {1, 2, 64}, Layout::kContiguous, weighted, biased);
      if (biased && !weighted) {
        ExpectMatchUnlessPlain(call, NormBound(call));
      } else {
        ExpectMatch(call, NormBound(call));
      }
    }
  }
}

TEST_P(LayerNormTest, TakesTheMeanOutBeforeItSquares) {
  // One pass over squares would lose this variance in fp32.
  Case call(dtype(), {1, 1, 64}, Layout::kContiguous, false, false);
  const double mean = dtype() == Dtype::kBf16 ? 128 : (dtype() == Dtype::kF16 ? 1024 : 16384);
  call["x"].SetAll([&](int64_t i) { return mean + static_cast<double>(i % 2); });
  // Half a step from the mean, one standard deviation.
  ExpectMatch(call, NormBound(call));
  EXPECT_NEAR(call["out"].Get(0), -1, 0.01);
}

TEST_P(LayerNormTest, WritesInPlace) {
  Case apart(dtype(), {1, 3, 128});
  Case in_place(dtype(), {1, 3, 128});
  ExpectMatch(apart, NormBound(apart));
  ForcedRun run("layer_norm", GetParam());
  FusedArgs args = in_place.Args(run);
  args.out = args.x;
  ASSERT_TRUE(LayerNorm(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place["x"], apart["out"]));
}

class LayerNormRefusals : public RefusalTest {
 protected:
  LayerNormRefusals() : RefusalTest("layer_norm"), call(Dtype::kBf16, {2, 8}) {}
  ResidualCase call;
};

TEST_F(LayerNormRefusals, NamesWhatDoesNotFit) {
  const auto refused = [&](auto change, absl::StatusCode code, const std::string& text) {
    FusedArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return LayerNorm(args, run.execution()); }, call["out"], code, text);
  };
  refused([](auto& args) { args.bias->dtype = Dtype::kF16; }, kInvalid, "bias is fp16 beside bf16");
  refused([](auto& args) { args.weight = Slice(*args.weight, 0, 0, 4); }, kInvalid, "expected [8]");
  refused([](auto& args) { args.x.dtype = Dtype::kI32; }, kUnimplemented, "x is int32");
  refused([](auto& args) { args.out = Slice(args.x, 0, 1, 1); }, kInvalid, "must be equal");
  refused([](auto& args) { args.eps = NAN; }, kInvalid, "eps");
}

TEST_F(LayerNormRefusals, WantsTheSumApartFromTheNorm) {
  FusedArgs args = call.ResidualArgs(run);
  args.sum = args.out;
  ExpectRefused([&] { return LayerNormResidual(args, run.execution()); }, call["out"], kInvalid,
                "The output overlaps another tensor");
}

}  // namespace
}  // namespace reel::kernels
