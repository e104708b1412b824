// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/norm_test.h"

namespace reel::kernels {
namespace {

struct Case : NormCase {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout = Layout::kContiguous,
       bool weighted = true)
      : NormCase(NormKind::kRms, 1e-6, dtype, sizes, layout) {
    for (const char* name : {"residual", "sum", "out"}) AddRows(name);
    if (weighted) AddVector("weight", dtype, {width()});
  }
  FusedArgs Args(ForcedRun& run) {
    return {.x = Use(run, "x"),
            .residual = Use(run, "residual"),
            .weight = Maybe(run, "weight"),
            .sum = Use(run, "sum"),
            .out = Use(run, "out"),
            .eps = eps()};
  }
  absl::Status Call(ForcedRun& run) override { return RmsNormResidual(Args(run), run.execution()); }
};

class RmsNormResidualTest : public NormTest {
 protected:
  RmsNormResidualTest() : NormTest("rms_norm_residual") {}
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<Case>(dtype(), sizes, layout);
  };
};

INSTANTIATE_TEST_SUITE_P(Variants, RmsNormResidualTest,
                         testing::ValuesIn(VariantsOf("rms_norm_residual")), NameOf);

TEST_P(RmsNormResidualTest, EqualsTheReferenceAtEveryWidth) { ExpectMatchesAtEveryWidth(make); }
TEST_P(RmsNormResidualTest, EqualsTheReferenceInEveryLayout) { ExpectMatchesInEveryLayout(make); }
TEST_P(RmsNormResidualTest, GivesARowTheSameBitsAlone) { ExpectSameBitsAlone(make); }
TEST_P(RmsNormResidualTest, TakesEmptyTensors) { ExpectTakesEmptyTensors(make); }

TEST_P(RmsNormResidualTest, NeedsNoWeight) {
  Case call(dtype(), {2, 2, 64}, Layout::kContiguous, false);
  ExpectMatch(call, NormBound(call));
}

TEST_P(RmsNormResidualTest, NormsTheSumBeforeItIsRounded) {
  // 256 + 1/2 is no bf16 and no fp16 neighbour of 257 either: a rounded sum would give other bits.
  Case call(dtype(), {1, 1, 64});
  call["x"].SetAll([](int64_t) { return 256; });
  call["residual"].SetAll([](int64_t i) { return i == 0 ? 0.5 : -255.5; });
  ExpectMatch(call, NormBound(call));
}

TEST_P(RmsNormResidualTest, WritesInPlace) {
  Case apart(dtype(), {1, 3, 128});
  Case in_place(dtype(), {1, 3, 128});
  ExpectMatch(apart, NormBound(apart));
  ForcedRun run("rms_norm_residual", GetParam());
  FusedArgs args = in_place.Args(run);
  args.out = args.x;
  args.sum = args.residual;
  ASSERT_TRUE(RmsNormResidual(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place["x"], apart["out"]));
  EXPECT_TRUE(SameBits(in_place["residual"], apart["sum"]));
}

class RmsNormResidualRefusals : public RefusalTest {
 protected:
  RmsNormResidualRefusals() : RefusalTest("rms_norm_residual"), call(Dtype::kF32, {2, 8}) {
    args = call.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return RmsNormResidual(args, run.execution()); }, call["out"], code, text);
  }
  Case call;
  FusedArgs args;
};

TEST_F(RmsNormResidualRefusals, WantsEverythingLikeX) {
  args.residual = Slice(*args.residual, 0, 0, 1);
  Refused(kInvalid, "Sizes and dtype must be equal: residual");
}
TEST_F(RmsNormResidualRefusals, WantsTwoOutputs) {
  args.sum = args.out;
  Refused(kInvalid, "The output overlaps another tensor: y");
}
TEST_F(RmsNormResidualRefusals, WantsTheNormedOutputApartFromTheResidual) {
  args.out = args.residual;
  Refused(kInvalid, "The output overlaps another tensor: y");
}
TEST_F(RmsNormResidualRefusals, NamesADtypeThatIsNotSupported) {
  args.residual->dtype = Dtype::kF64;
  Refused(kUnimplemented, "residual is fp64");
}
TEST_F(RmsNormResidualRefusals, WantsLegalEps) {
  args.eps = -1;
  Refused(kInvalid, "eps must be finite");
}

}  // namespace
}  // namespace reel::kernels
