// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/rms_norm_case.h"

namespace reel::kernels {
namespace {

using Case = RmsNormCase;
using Form = RmsNormForm;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class RmsNormTest : public RmsNormTestBase {};

INSTANTIATE_TEST_SUITE_P(Variants, RmsNormTest, testing::ValuesIn(VariantsOf("rms_norm")), NameOf);

TEST_P(RmsNormTest, EqualsTheReferenceAtEveryWidth) {
  int ran = 0;
  for (const int64_t width : {1,   2,    7,    8,    31,   33,   63,   64,   65,   127,
                              128, 1000, 1023, 1985, 2048, 2050, 3072, 4096, 8191, 65536}) {
    SCOPED_TRACE(width);
    Case call(dtype(), {3, width});
    ran += Right(call) ? 1 : 0;
  }
  EXPECT_GE(ran, TakesEverything(GetParam()) ? 20 : 5);
}

TEST_P(RmsNormTest, EqualsTheReferenceForEveryNumberOfRows) {
  for (const int64_t rows : {1, 3, 131, 132, 133, 1320, 2688, 5376}) {
    SCOPED_TRACE(rows);
    Case call(dtype(), {rows, 64});
    EXPECT_TRUE(Right(call));
  }
}

TEST_P(RmsNormTest, EqualsTheReferenceInEveryLayoutAndForm) {
  const Form forms[] = {{},
                        {.weight = false},
                        {.bias = true},
                        {.fp32_vectors = true},
                        {.bias = true, .fp32_vectors = true, .weight_offset = 1},
                        {.weight = false, .bias = true, .eps = 1e-5},
                        {.eps = 0}};
  for (const Layout layout : AllLayouts()) {
    for (const Form& form : forms) {
      SCOPED_TRACE(LayoutName(layout));
      for (const auto& sizes :
           std::vector<std::vector<int64_t>>{{2048}, {2, 5, 72}, {2, 1, 3, 2, 40}}) {
        Case call(dtype(), sizes, form, layout);
        Right(call);
      }
    }
  }
}

TEST_P(RmsNormTest, RoundsBeforeTheWeightWhenAsked) {
  Form form{.round_before_weight = true};
  Case call(dtype(), {4, 256}, form);
  ASSERT_TRUE(Right(call));
  // A weight of 3 shows the order: the product of a rounded value is a multiple of it.
  call.weight.SetAll([](int64_t) { return 3; });
  Case once(dtype(), {4, 256});
  once.weight.SetAll([](int64_t) { return 3; });
  ASSERT_TRUE(Right(call));
  ASSERT_TRUE(Right(once));
  // In fp32 the two orders agree but for a last bit here and there.
  EXPECT_TRUE(dtype() == Dtype::kF32 || !SameBits(call.out, once.out));
}

TEST_P(RmsNormTest, WritesInPlace) {
  Case apart(dtype(), {7, 128});
  Case in_place(dtype(), {7, 128});
  ASSERT_TRUE(Right(apart));
  ForcedRun run("rms_norm", GetParam());
  RmsNormArgs args = in_place.Args(run);
  args.out = args.x;
  ASSERT_TRUE(RmsNorm(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place.x, apart.out));
}

TEST_P(RmsNormTest, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {133, 2048});
  ASSERT_TRUE(Right(many));
  for (const int64_t row : {0, 1, 64, 132}) {
    Case alone(dtype(), {1, 2048});
    alone.x.SetAll([&](int64_t i) { return many.x.Get(row * 2048 + i); });
    ASSERT_TRUE(Right(alone));
    for (int64_t i = 0; i < 2048; ++i)
      ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 2048 + i)) << i;
  }
}

TEST_P(RmsNormTest, TreatsSpecialValuesAsTorchDoes) {
  Case call(dtype(), {6, 64}, {.weight = false, .eps = 0});
  const double large = dtype() == Dtype::kF16 ? 6e4 : 1e30;
  call.x.SetAll([&](int64_t i) {
    switch (i / 64) {
      case 0:
        return i == 0 ? kInf : 1.0;
      case 1:
        return i == 64 + 33 ? kNan : 1.0;
      case 2:
        return 0.0;
      case 3:
        return large;
      case 4:
        return i % 2 == 0 ? -1e-6 : 1e-6;
      default:
        return i == 5 * 64 + 63 ? -kInf : -2.0;
    }
  });
  ASSERT_TRUE(Right(call));
  EXPECT_TRUE(std::isnan(call.out.Get(0)));
  EXPECT_EQ(call.out.Get(1), 0);
  EXPECT_TRUE(std::isnan(call.out.Get(64)));
  EXPECT_TRUE(std::isnan(call.out.Get(2 * 64)));
  EXPECT_EQ(call.out.Get(3 * 64), dtype() == Dtype::kF16 ? 1 : 0);
}

TEST_P(RmsNormTest, KeepsTheSignOfZero) {
  Case call(dtype(), {1, 64}, {.weight = false});
  call.x.SetAll([](int64_t i) { return i == 0 ? -0.0 : 1.0; });
  ASSERT_TRUE(Right(call));
  EXPECT_TRUE(std::signbit(call.out.Get(0)));
}

TEST_P(RmsNormTest, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(dtype(), sizes);
    ForcedRun run("rms_norm", GetParam());
    const auto before = call.out.Snapshot();
    EXPECT_TRUE(RmsNorm(call.Args(run), run.execution()).ok());
    run.Fetch();
    EXPECT_EQ(call.out.Snapshot(), before);
  }
}

TEST_P(RmsNormTest, LeavesE4m3ToOthersUnlessItTakesEverything) {
  Case call(dtype(), {3, 64}, {.e4m3 = true});
  EXPECT_EQ(Right(call), TakesEverything(GetParam()));
}

class RmsNormRefusals : public RefusalTest {
 protected:
  RmsNormRefusals() : RefusalTest("rms_norm"), call(Dtype::kBf16, {2, 8}, {.bias = true}) {
    args = call.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return RmsNorm(args, run.execution()); }, call.out, code, text);
  }

  Case call;
  RmsNormArgs args;
};

TEST_F(RmsNormRefusals, NamesADtypeThatIsNotSupported) {
  for (const Dtype dtype : {Dtype::kF64, Dtype::kI32, Dtype::kI64, Dtype::kU8, Dtype::kE4m3}) {
    args.x.dtype = dtype;
    Refused(kUnimplemented, "legal are fp16, bf16, fp32");
  }
}

TEST_F(RmsNormRefusals, NamesAMixOfDtypes) {
  args.weight->dtype = Dtype::kF16;
  Refused(kInvalid, "weight is fp16 beside bf16, legal are bf16 and fp32");
}

TEST_F(RmsNormRefusals, WantsAnOutputLikeItsInput) {
  args.out = Slice(args.out, 1, 0, 7);
  Refused(kInvalid, "Sizes and dtype must be equal");
}

TEST_F(RmsNormRefusals, WantsVectorsOfTheWidth) {
  args.weight = Slice(*args.weight, 0, 0, 1);
  Refused(kInvalid, "expected [8]");
}

TEST_F(RmsNormRefusals, WantsLegalEps) {
  for (const double eps : {-1e-6, kInf, kNan}) {
    args.eps = eps;
    Refused(kInvalid, "eps must be finite and not below zero");
  }
}

TEST_F(RmsNormRefusals, WantsData) {
  args.x.data = nullptr;
  Refused(kInvalid, "The tensor has no data: x");
}

TEST_F(RmsNormRefusals, WantsAlignedElements) {
  args.x.data = static_cast<char*>(args.x.data) + 1;
  Refused(kInvalid, "not aligned to its elements");
}

TEST_F(RmsNormRefusals, WantsTheStreamsDevice) {
  args.weight->device = 0;
  Refused(kInvalid, "weight on device 0, stream on the CPU");
}

TEST_F(RmsNormRefusals, WantsRankOneToFive) {
  args.x = args.out = Contiguous(args.x.data, Dtype::kBf16, {1, 1, 1, 1, 2, 8});
  Refused(kInvalid, "legal are 1 to 5");
  args.x = args.out = Contiguous(args.x.data, Dtype::kBf16, {});
  Refused(kInvalid, "legal are 1 to 5");
}

TEST_F(RmsNormRefusals, WantsOutputsThatOverlapNothingOrExactlyTheInput) {
  args.out = args.x;
  args.out.data = static_cast<char*>(args.out.data) + 2;
  Refused(kInvalid, "The output overlaps another tensor");
  args.out = args.x;
  args.out.strides = {0, 1};
  Refused(kInvalid, "must not name an element twice");
}

TEST_F(RmsNormRefusals, NamesTheVariantsWhenOneCannotTakeTheCall) {
  ForcedRun forced("rms_norm", {.variant = "cpu", .dtype = Dtype::kF32, .on_gpu = false});
  Case strided(Dtype::kF32, {2, 8}, {}, Layout::kStrided);
  EXPECT_THAT(strided.Call(forced), StatusIs(absl::StatusCode::kFailedPrecondition,
                                             "rms_norm=cpu, it does not take these widths, strides "
                                             "or alignments; these can: loops"));
  EXPECT_EQ(forced.calls(), 0);
}

}  // namespace
}  // namespace reel::kernels
