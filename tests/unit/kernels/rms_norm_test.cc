// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm.h"

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What is optional about a call.
struct Form {
  bool weight = true;
  bool bias = false;
  bool fp32_vectors = false;
  bool round_before_weight = false;
  double weight_offset = 0;
  double eps = 1e-6;
};

struct Case {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout, const Form& use)
      : form(use),
        x(dtype, sizes, layout),
        out(dtype, sizes, layout),
        weight(use.fp32_vectors ? Dtype::kF32 : dtype, {sizes.back()}),
        bias(weight.view().dtype, {sizes.back()}) {
    x.FillNormal(1);
    weight.FillNormal(2);
    bias.FillNormal(3);
  }

  RmsNormArgs Args(ForcedRun& run) {
    RmsNormArgs args{.x = run.Use(x),
                     .weight = std::nullopt,
                     .bias = std::nullopt,
                     .out = run.Use(out),
                     .eps = form.eps,
                     .weight_offset = form.weight_offset,
                     .round_before_weight = form.round_before_weight};
    if (form.weight) args.weight = run.Use(weight);
    if (form.bias) args.bias = run.Use(bias);
    return args;
  }

  // Naive, in fp64, from the values that the operator sees.
  void Reference(std::vector<double>& want, std::vector<double>& magnitude) const {
    const int64_t width = weight.size();
    for (int64_t begin = 0; begin < x.size(); begin += width) {
      double squares = 0;
      for (int64_t i = 0; i < width; ++i) squares += x.Get(begin + i) * x.Get(begin + i);
      if (squares > std::numeric_limits<float>::max()) squares = kInf;
      const double rstd = 1 / std::sqrt(squares / static_cast<double>(width) + form.eps);
      for (int64_t i = 0; i < width; ++i) {
        const double scaled =
            x.Get(begin + i) * rstd * (form.weight ? weight.Get(i) + form.weight_offset : 1);
        const double shift = form.bias ? bias.Get(i) : 0;
        want.push_back(scaled + shift);
        magnitude.push_back(std::abs(scaled) + std::abs(shift));
      }
    }
  }

  Form form;
  HostTensor x;
  HostTensor out;
  HostTensor weight;
  HostTensor bias;
};

class RmsNormTest : public testing::TestWithParam<OpVariant> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().present()) GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
  }

  // False when the variant does not take the call, which only tuned rows may say.
  bool RunAndCompare(Case& call) {
    ForcedRun run("rms_norm", GetParam());
    const absl::Status status = RmsNorm(call.Args(run), run.execution());
    if (status.code() == absl::StatusCode::kFailedPrecondition && !TakesEverything(GetParam())) {
      return false;
    }
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(run.calls(), 1);
    run.Fetch();
    std::vector<double> want;
    std::vector<double> magnitude;
    call.Reference(want, magnitude);
    Bound bound =
        BoundFor(GetParam().dtype, 8 + std::log2(static_cast<double>(call.weight.size())));
    if (call.form.round_before_weight) bound.ulps *= 2;  // two roundings
    EXPECT_TRUE(AllWithin(bound, call.out, want, magnitude));
    EXPECT_TRUE(call.out.SurroundingsIntact());
    return true;
  }
};

INSTANTIATE_TEST_SUITE_P(Rows, RmsNormTest, testing::ValuesIn(VariantsOf("rms_norm")), NameOf);

TEST_P(RmsNormTest, EqualsTheReferenceAtEveryWidth) {
  int ran = 0;
  for (const int64_t width : {1,   2,    7,    8,    31,   33,   63,   64,   65,   127,
                              128, 1000, 1023, 1985, 2048, 2050, 3072, 4096, 8191, 65536}) {
    SCOPED_TRACE(width);
    Case call(GetParam().dtype, {3, width}, Layout::kContiguous, {});
    ran += RunAndCompare(call) ? 1 : 0;
  }
  EXPECT_GE(ran, TakesEverything(GetParam()) ? 20 : 5);
}

TEST_P(RmsNormTest, EqualsTheReferenceForEveryNumberOfRows) {
  for (const int64_t rows : {1, 3, 131, 132, 133, 1320, 2688, 5376}) {
    SCOPED_TRACE(rows);
    Case call(GetParam().dtype, {rows, 64}, Layout::kContiguous, {});
    EXPECT_TRUE(RunAndCompare(call));
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
        Case call(GetParam().dtype, sizes, layout, form);
        RunAndCompare(call);
      }
    }
  }
}

TEST_P(RmsNormTest, RoundsBeforeTheWeightWhenAsked) {
  Form form{.round_before_weight = true};
  Case call(GetParam().dtype, {4, 256}, Layout::kContiguous, form);
  ASSERT_TRUE(RunAndCompare(call));
  // A weight of 3 shows the order: the product of a rounded value is a multiple of it.
  call.weight.SetAll([](int64_t) { return 3; });
  Case once(GetParam().dtype, {4, 256}, Layout::kContiguous, {});
  once.weight.SetAll([](int64_t) { return 3; });
  ASSERT_TRUE(RunAndCompare(call));
  ASSERT_TRUE(RunAndCompare(once));
  // In fp32 the two orders agree but for a last bit here and there.
  EXPECT_TRUE(GetParam().dtype == Dtype::kF32 || !SameBits(call.out, once.out));
}

TEST_P(RmsNormTest, WritesInPlace) {
  Case apart(GetParam().dtype, {7, 128}, Layout::kContiguous, {});
  Case in_place(GetParam().dtype, {7, 128}, Layout::kContiguous, {});
  ASSERT_TRUE(RunAndCompare(apart));
  ForcedRun run("rms_norm", GetParam());
  RmsNormArgs args = in_place.Args(run);
  args.out = args.x;
  ASSERT_TRUE(RmsNorm(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place.x, apart.out));
}

TEST_P(RmsNormTest, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(GetParam().dtype, {133, 2048}, Layout::kContiguous, {});
  ASSERT_TRUE(RunAndCompare(many));
  for (const int64_t row : {0, 1, 64, 132}) {
    Case alone(GetParam().dtype, {1, 2048}, Layout::kContiguous, {});
    alone.x.SetAll([&](int64_t i) { return many.x.Get(row * 2048 + i); });
    ASSERT_TRUE(RunAndCompare(alone));
    for (int64_t i = 0; i < 2048; ++i)
      ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 2048 + i)) << i;
  }
}

TEST_P(RmsNormTest, TreatsSpecialValuesAsTorchDoes) {
  const Dtype dtype = GetParam().dtype;
  Case call(dtype, {6, 64}, Layout::kContiguous, {.weight = false, .eps = 0});
  const double large = dtype == Dtype::kF16 ? 6e4 : 1e30;
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
  ASSERT_TRUE(RunAndCompare(call));
  EXPECT_TRUE(std::isnan(call.out.Get(0)));
  EXPECT_EQ(call.out.Get(1), 0);
  EXPECT_TRUE(std::isnan(call.out.Get(64)));
  EXPECT_TRUE(std::isnan(call.out.Get(2 * 64)));
  EXPECT_EQ(call.out.Get(3 * 64), dtype == Dtype::kF16 ? 1 : 0);
}

TEST_P(RmsNormTest, KeepsTheSignOfZero) {
  Case call(GetParam().dtype, {1, 64}, Layout::kContiguous, {.weight = false});
  call.x.SetAll([](int64_t i) { return i == 0 ? -0.0 : 1.0; });
  ASSERT_TRUE(RunAndCompare(call));
  EXPECT_TRUE(std::signbit(call.out.Get(0)));
}

TEST_P(RmsNormTest, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(GetParam().dtype, sizes, Layout::kContiguous, {});
    ForcedRun run("rms_norm", GetParam());
    const auto before = call.out.Snapshot();
    EXPECT_TRUE(RmsNorm(call.Args(run), run.execution()).ok());
    run.Fetch();
    EXPECT_EQ(call.out.Snapshot(), before);
  }
}

// Refusals need no variant: nothing is chosen before the arguments are checked.
class RmsNormRefusals : public testing::Test {
 protected:
  RmsNormRefusals() : call(Dtype::kBf16, {2, 8}, Layout::kContiguous, {.bias = true}) {
    args = call.Args(run);
  }
  void ExpectRefused(absl::StatusCode code, const std::string& text) {
    const auto before = call.out.Snapshot();
    EXPECT_THAT(RmsNorm(args, run.execution()), StatusIs(code, text));
    EXPECT_EQ(call.out.Snapshot(), before);
    EXPECT_EQ(run.calls(), 0);
  }

  static constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ForcedRun run{"rms_norm", {.variant = "loops", .dtype = Dtype::kBf16, .on_gpu = false}};
  Case call;
  RmsNormArgs args;
};

TEST_F(RmsNormRefusals, NamesADtypeThatIsNotSupported) {
  for (const Dtype dtype : {Dtype::kF64, Dtype::kI32, Dtype::kI64, Dtype::kU8, Dtype::kE4m3}) {
    args.x.dtype = dtype;
    ExpectRefused(absl::StatusCode::kUnimplemented, "legal are fp16, bf16, fp32");
  }
}

TEST_F(RmsNormRefusals, NamesAMixOfDtypes) {
  args.weight->dtype = Dtype::kF16;
  ExpectRefused(kInvalid, "weight is fp16 beside bf16, legal are bf16 and fp32");
}

TEST_F(RmsNormRefusals, WantsAnOutputLikeItsInput) {
  args.out = Slice(args.out, 1, 0, 7);
  ExpectRefused(kInvalid, "Sizes and dtype must be equal");
}

TEST_F(RmsNormRefusals, WantsVectorsOfTheWidth) {
  args.weight = Slice(*args.weight, 0, 0, 1);
  ExpectRefused(kInvalid, "expected [8]");
}

TEST_F(RmsNormRefusals, WantsLegalEps) {
  for (const double eps : {-1e-6, kInf, kNan}) {
    args.eps = eps;
    ExpectRefused(kInvalid, "eps must be finite and not below zero");
  }
}

TEST_F(RmsNormRefusals, WantsData) {
  args.x.data = nullptr;
  ExpectRefused(kInvalid, "The tensor has no data: x");
}

TEST_F(RmsNormRefusals, WantsAlignedElements) {
  args.x.data = static_cast<char*>(args.x.data) + 1;
  ExpectRefused(kInvalid, "not aligned to its elements");
}

TEST_F(RmsNormRefusals, WantsTheStreamsDevice) {
  args.weight->device = 0;
  ExpectRefused(kInvalid, "weight on device 0, stream on the CPU");
}

TEST_F(RmsNormRefusals, WantsRankOneToFive) {
  args.x = args.out = Contiguous(args.x.data, Dtype::kBf16, {1, 1, 1, 1, 2, 8});
  ExpectRefused(kInvalid, "legal are 1 to 5");
  args.x = args.out = Contiguous(args.x.data, Dtype::kBf16, {});
  ExpectRefused(kInvalid, "legal are 1 to 5");
}

TEST_F(RmsNormRefusals, WantsOutputsThatOverlapNothingOrExactlyTheInput) {
  args.out = args.x;
  args.out.data = static_cast<char*>(args.out.data) + 2;
  ExpectRefused(kInvalid, "The output overlaps another tensor");
  args.out = args.x;
  args.out.strides = {0, 1};
  ExpectRefused(kInvalid, "must not name an element twice");
}

TEST_F(RmsNormRefusals, NamesTheVariantsWhenOneCannotTakeTheCall) {
  const auto catalog = KernelCatalog(DeviceUnderTest().catalog());
  if (DeviceUnderTest().stream().device >= 0) GTEST_SKIP() << "SKIPPED: a CPU row is forced here";
  const auto plan = catalog.Plan("auto", {{"rms_norm", "cpu"}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  KernelCounters counters;
  Case strided(Dtype::kF32, {2, 8}, Layout::kStrided, {});
  EXPECT_THAT(RmsNorm(strided.Args(run),
                      {.plan = *plan, .counters = counters, .timer = nullptr, .stream = {}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "rms_norm=cpu"));
  EXPECT_TRUE(counters.Uses().empty());
}

}  // namespace
}  // namespace reel::kernels
