// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm_linear/norm_linear.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "tests/unit/kernels/norm_linear_case.h"

namespace {

std::atomic<size_t> live_bytes{0};
std::atomic<size_t> peak_bytes{0};

}  // namespace

// Of the whole program, to see the most that a call holds at once.
void* operator new(size_t size) {
  void* data = std::malloc(size == 0 ? 1 : size);
  if (data == nullptr) std::abort();
  const size_t live = live_bytes += malloc_usable_size(data);
  if (live > peak_bytes) peak_bytes = live;
  return data;
}
void operator delete(void* data) noexcept {
  if (data != nullptr) live_bytes -= malloc_usable_size(data);
  std::free(data);
}
void operator delete(void* data, size_t) noexcept { operator delete(data); }

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Case = NormLinearCase;
using Form = NormLinearForm;
using Norm = ReferenceNorm;
using Sizes = NormLinearSizes;

class NormLinearTest : public OpTest {
 protected:
  NormLinearTest() : OpTest("norm_linear") {}
  bool Right(Case& call) { return Matches(call, BoundFor(dtype(), kProductTerms)); }
  bool tuned() const { return !TakesEverything(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Variants, NormLinearTest, testing::ValuesIn(NormLinearVariants()), NameOf);

TEST_P(NormLinearTest, EqualsTheReferenceAtEveryWidth) {
  for (const bool layer : {false, true}) {
    for (const int64_t width : {1, 8, 31, 64, 65, 127, 128, 136, 160, 1000, 2048, 2050}) {
      SCOPED_TRACE(width);
      Case call(dtype(), {{5}, width, 48}, {.layer = layer});
      EXPECT_EQ(Right(call), !tuned() || width % 8 == 0);
    }
  }
}

TEST_P(NormLinearTest, EqualsTheReferenceForEveryNumberOfRowsAndOutputs) {
  for (const int64_t rows : {1, 3, 131, 133}) {
    for (const int64_t outputs : {1, 8, 48, 127, 128, 130}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << outputs << " outputs");
      Case call(dtype(), {{rows}, 136, outputs}, {.layer = outputs % 2 == 0});
      EXPECT_TRUE(Right(call));
    }
  }
}

TEST_P(NormLinearTest, EqualsTheReferenceInEveryLayoutAndForm) {
  const Form forms[] = {{},
                        {.bias = false},
                        {.fp32_bias = true},
                        {.layer = true},
                        {.layer = true, .bias = false},
                        {.layer = true, .fp32_bias = true, .mean = 2, .eps = 1e-3}};
  const Sizes all[] = {{{}, 40, 24}, {{5}, 72, 17}, {{2, 5}, 72, 24}, {{2, 1, 3, 2}, 40, 9}};
  for (const Layout layout : AllLayouts()) {
    for (const Form& form : forms) {
      for (const Sizes& sizes : all) {
        SCOPED_TRACE(LayoutName(layout));
        Case call(dtype(), sizes, form, layout);
        EXPECT_TRUE(Right(call) || layout != Layout::kContiguous);
      }
    }
  }
}

TEST_P(NormLinearTest, WritesOutputsOfAnyLayout) {
  for (const Layout layout : AllLayouts()) {
    for (const int64_t outputs : {64, 77}) {
      SCOPED_TRACE(LayoutName(layout));
      Case call(dtype(), {{2, 70}, 64, outputs}, {}, Layout::kContiguous, layout);
      EXPECT_TRUE(Right(call));
    }
  }
}

TEST_P(NormLinearTest, TakesRowsThatRepeat) {
  Case call(dtype(), {{3}, 64, 16});
  ASSERT_TRUE(Right(call));
  Case repeated(dtype(), {{3}, 64, 16});
  ForcedRun run(op_, GetParam());
  NormLinearArgs args = repeated.Args(run);
  args.x.strides[0] = 0;
  ASSERT_TRUE(NormLinear(args, run.execution()).ok());
  run.Fetch();
  for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(repeated.out.Get(i), call.out.Get(i % 16)) << i;
}

// As long as the mean is not far from zero the terms of the normed row are those that count.
TEST_P(NormLinearTest, LosesNothingToAMeanOfAFewDeviations) {
  for (const double mean : {0.0, 1.0, -4.0}) {
    SCOPED_TRACE(mean);
    Case call(dtype(), {{9}, 2048, 33}, {.layer = true, .mean = mean});
    ASSERT_TRUE(Right(call));
    Expected centred = call.Reference()[0];
    const std::vector<double> x = call.x.Values();
    for (size_t i = 0; i < centred.want.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / 33 * 2048, at = static_cast<int64_t>(i) % 33;
      const Norm norm(&x[static_cast<size_t>(row)], 2048, true, call.form.eps);
      double terms = std::abs(call.bias.Get(at));
      for (int64_t d = 0; d < 2048; ++d) {
        terms += std::abs((call.x.Get(row + d) - norm.mean) * norm.rstd *
                          call.weight.Get(at * 2048 + d));
      }
      centred.magnitude[i] = terms;
    }
    EXPECT_TRUE(AllWithin(BoundFor(dtype(), kProductTerms), centred));
  }
}

TEST_P(NormLinearTest, LosesToALargeMeanWhatItsTermsLose) {
  Case call(dtype(), {{9}, 2048, 33}, {.layer = true, .mean = 100});
  EXPECT_TRUE(Right(call));
}

// The variance alone does not cancel: a first column far from all others shows a shift by it.
TEST_P(NormLinearTest, FindsTheDeviationBesideAnOutlier) {
  for (const int64_t place : {0, 5, 1999}) {
    Case call(dtype(), {{3}, 2000, 16}, {.layer = true});
    call.x.Set(2000 + place, 3e3);
    EXPECT_TRUE(Right(call));
  }
}

TEST_P(NormLinearTest, ShowsRowsThatAreNotFiniteAndNoOthers) {
  for (const bool layer : {false, true}) {
    for (const double value : {kNan, kInf, -kInf}) {
      for (const int64_t place : {0, 77, 135}) {
        Case call(dtype(), {{3}, 136, 24}, {.layer = layer});
        call.x.Set(136 + place, value);
        ForcedRun run(op_, GetParam());
        ASSERT_TRUE(call.Call(run).ok());
        run.Fetch();
        for (int64_t i = 0; i < 72; ++i) {
          ASSERT_EQ(std::isnan(call.out.Get(i)), i / 24 == 1) << i;
        }
      }
    }
  }
}

TEST_P(NormLinearTest, GivesTheBiasForRowsOfZeros) {
  Case call(dtype(), {{2}, 64, 8});
  call.x.SetAll([](int64_t) { return 0; });
  ASSERT_TRUE(Right(call));
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(call.out.Get(i), call.bias.Get(i % 8));
  call.form.eps = 0;
  ForcedRun run(op_, GetParam());
  ASSERT_TRUE(call.Call(run).ok());
  run.Fetch();
  EXPECT_TRUE(std::isnan(call.out.Get(0)));
}

TEST_P(NormLinearTest, TakesRowsAsLargeAsTheirType) {
  Case call(dtype(), {{2}, 64, 8});
  const double large = dtype() == Dtype::kF16 ? 6e4 : 1e18;
  call.x.SetAll([&](int64_t i) { return i % 3 == 0 ? -large : large; });
  EXPECT_TRUE(Right(call));
}

TEST_P(NormLinearTest, GivesARowTheSameBitsAloneAndAmongMany) {
  for (const bool layer : {false, true}) {
    Case many(dtype(), {{133}, 264, 130}, {.layer = layer});
    ASSERT_TRUE(Right(many));
    for (const int64_t row : {0, 1, 64, 132}) {
      Case alone(dtype(), {{1}, 264, 130}, {.layer = layer});
      alone.x.SetAll([&](int64_t i) { return many.x.Get(row * 264 + i); });
      ASSERT_TRUE(Right(alone));
      for (int64_t i = 0; i < 130; ++i)
        ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 130 + i)) << i;
    }
  }
}

// Enough work that a GPU takes larger tiles for it.
TEST_P(NormLinearTest, GivesARowTheSameBitsInACallThatFillsTheDevice) {
  const Sizes sizes = GetParam().on_gpu ? Sizes{{2000}, 200, 2040} : Sizes{{40}, 72, 33};
  for (const bool layer : {false, true}) {
    Case many(dtype(), sizes, {.layer = layer});
    ForcedRun run(op_, GetParam());
    ASSERT_TRUE(many.Call(run).ok());
    run.Fetch();
    EXPECT_TRUE(many.out.SurroundingsIntact());
    for (const int64_t row : {int64_t{0}, int64_t{17}, sizes.rows[0] - 1}) {
      Case alone(dtype(), {{1}, sizes.width, sizes.outputs}, {.layer = layer});
      alone.x.SetAll([&](int64_t i) { return many.x.Get(row * sizes.width + i); });
      ASSERT_TRUE(Right(alone));
      for (int64_t i = 0; i < sizes.outputs; ++i) {
        ASSERT_EQ(alone.out.Get(i), many.out.Get(row * sizes.outputs + i)) << row << ", " << i;
      }
    }
  }
}

TEST_P(NormLinearTest, GivesTheSameBitsEveryTime) {
  Case first(dtype(), {{131}, 136, 130}, {.layer = true});
  ASSERT_TRUE(Right(first));
  for (int i = 0; i < 5; ++i) {
    Case again(dtype(), {{131}, 136, 130}, {.layer = true});
    ASSERT_TRUE(Right(again));
    ASSERT_TRUE(SameBits(again.out, first.out));
  }
}

TEST_P(NormLinearTest, HoldsLessThanTheNormedRows) {
  Case call(dtype(), {{1000}, 256, 3});
  ForcedRun run(op_, GetParam());
  const NormLinearArgs args = call.Args(run);
  const Execution execution = run.execution();
  ASSERT_TRUE(NormLinear(args, execution).ok());  // libraries make themselves ready in the first
  const size_t before = live_bytes;
  peak_bytes = before;
  const absl::Status status = NormLinear(args, execution);
  const size_t held = peak_bytes - before;
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_LT(held, 1000 * 256 * static_cast<size_t>(DtypeSize(dtype())) / 4);
  EXPECT_LE(live_bytes, before + 4096);
}

TEST_P(NormLinearTest, TakesEmptyTensorsAndGivesTheBiasForNoColumns) {
  for (const Sizes& sizes : {Sizes{{0}, 64, 8}, Sizes{{3}, 64, 0}, Sizes{{2, 0}, 8, 8}}) {
    Case call(dtype(), sizes);
    EXPECT_TRUE(Right(call));
  }
  for (const bool layer : {false, true}) {
    Case none(dtype(), {{3}, 0, 8}, {.layer = layer});
    ForcedRun run(op_, GetParam());
    const absl::Status status = none.Call(run);
    ASSERT_EQ(status.ok(), !tuned()) << status;
    run.Fetch();
    for (int64_t i = 0; i < 24 && status.ok(); ++i)
      EXPECT_EQ(none.out.Get(i), none.bias.Get(i % 8));
  }
}

class NormLinearRefusals : public RefusalTest {
 protected:
  NormLinearRefusals()
      : RefusalTest("norm_linear"), call(Dtype::kBf16, {{2}, 8, 4}, {.layer = true}) {
    args = call.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return NormLinear(args, run.execution()); }, call.out, code, text);
  }

  Case call;
  NormLinearArgs args;
};

TEST_F(NormLinearRefusals, NamesADtypeThatIsNotSupported) {
  for (const Dtype dtype : {Dtype::kF64, Dtype::kI32, Dtype::kI64, Dtype::kU8, Dtype::kE4m3}) {
    args.x.dtype = dtype;
    Refused(kUnimplemented, "legal are fp16, bf16, fp32");
  }
}

TEST_F(NormLinearRefusals, NamesAMixOfDtypes) {
  args.linear.weight.dtype = Dtype::kF16;
  Refused(kInvalid, "The dtypes must be equal: x bf16 [2, 8], weight fp16 [4, 8]");
  args.linear.weight.dtype = Dtype::kBf16;
  args.out.dtype = Dtype::kF16;
  Refused(kInvalid, "The dtypes must be equal");
  args.out.dtype = Dtype::kBf16;
  args.linear.bias->dtype = Dtype::kF16;
  Refused(kInvalid, "bias is fp16 beside bf16, legal are bf16 and fp32");
  args.linear.bias->dtype = Dtype::kBf16;
  args.linear.sums->dtype = Dtype::kBf16;
  Refused(kUnimplemented, "sums is bf16, legal are fp32");
}

TEST_F(NormLinearRefusals, WantsSizesThatFit) {
  args.linear.weight = Slice(call.weight.view(), 1, 0, 7);
  Refused(kInvalid, "The widths must be equal");
  args.linear.weight = Slice(call.weight.view(), 0, 0, 3);
  Refused(kInvalid, "The sizes do not fit: out");
  args.linear.weight = call.weight.view();
  args.out = Slice(call.out.view(), 0, 0, 1);
  Refused(kInvalid, "The sizes do not fit: out");
  args.out = Contiguous(call.out.view().data, Dtype::kBf16, {1, 2, 4});
  Refused(kInvalid, "The sizes do not fit: out");
  args.out = call.out.view();
  args.linear.bias = Slice(call.bias.view(), 0, 0, 3);
  Refused(kInvalid, "expected [4]");
  args.linear.bias.reset();
  args.linear.sums = Slice(call.sums.view(), 0, 0, 3);
  Refused(kInvalid, "expected [4]");
}

TEST_F(NormLinearRefusals, WantsRanksInRange) {
  args.x = Contiguous(call.x.view().data, Dtype::kBf16, {1, 1, 1, 1, 2, 8});
  Refused(kInvalid, "legal are 1 to 5");
  args.x = call.x.view();
  args.linear.weight = Contiguous(call.weight.view().data, Dtype::kBf16, {32});
  Refused(kInvalid, "legal are 2 to 2");
}

TEST_F(NormLinearRefusals, WantsLegalEps) {
  for (const double eps : {-1e-6, kInf, kNan}) {
    args.eps = eps;
    Refused(kInvalid, "eps must be finite and not below zero");
  }
}

TEST_F(NormLinearRefusals, WantsDataOfTheStreamsDevice) {
  args.linear.weight.data = nullptr;
  Refused(kInvalid, "The tensor has no data: weight");
  args.linear.weight = call.weight.view();
  args.linear.weight.device = 0;
  Refused(kInvalid, "weight on device 0, stream on the CPU");
}

TEST_F(NormLinearRefusals, WantsOutputsThatOverlapNothing) {
  args.out.data = args.x.data;
  Refused(kInvalid, "The output overlaps another tensor");
  args.out.data = args.linear.weight.data;
  Refused(kInvalid, "The output overlaps another tensor");
  args.out = call.out.view();
  args.out.strides = {0, 1};
  Refused(kInvalid, "must not name an element twice");
}

}  // namespace
}  // namespace reel::kernels
