// SPDX-License-Identifier: Apache-2.0
// rms_norm with an output in e4m3.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/e4m3_codes.h"
#include "tests/unit/kernels/rms_norm_case.h"

namespace reel::kernels {
namespace {

using Case = RmsNormCase;
using Form = RmsNormForm;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class RmsNormE4m3Test : public RmsNormTestBase {};

INSTANTIATE_TEST_SUITE_P(Variants, RmsNormE4m3Test, testing::ValuesIn(E4m3VariantsOf("rms_norm")),
                         NameOf);

TEST_P(RmsNormE4m3Test, EqualsTheReferenceAtEveryWidth) {
  int ran = 0;
  for (const int64_t width : {1,   2,    7,    8,    31,   33,   63,   64,   65,   127,
                              128, 1000, 1023, 1985, 2048, 2050, 3072, 4096, 8191, 65536}) {
    SCOPED_TRACE(width);
    for (const bool weight : {true, false}) {
      Case call(dtype(), {3, width}, {.weight = weight, .e4m3 = true});
      ran += Right(call) ? 1 : 0;
    }
  }
  EXPECT_GE(ran, TakesEverything(GetParam()) ? 40 : 10);
}

TEST_P(RmsNormE4m3Test, EqualsTheReferenceInEveryLayoutAndForm) {
  const Form forms[] = {{.e4m3 = true},
                        {.weight = false, .e4m3 = true},
                        {.bias = true, .e4m3 = true},
                        {.fp32_vectors = true, .weight_offset = 1, .e4m3 = true},
                        {.eps = 0, .e4m3 = true, .static_scale = 0.0061},
                        {.weight = false, .e4m3 = true, .static_scale = 0.25},
                        {.weight = false, .e4m3 = true, .static_scale = 1e-25}};
  for (const Layout layout : AllLayouts()) {
    for (const Form& form : forms) {
      SCOPED_TRACE(LayoutName(layout));
      for (const auto& sizes :
           std::vector<std::vector<int64_t>>{{2048}, {2, 5, 72}, {133, 64}, {2, 1, 3, 2, 40}}) {
        Case call(dtype(), sizes, form, layout);
        Right(call);
      }
    }
  }
}

TEST_P(RmsNormE4m3Test, QuantizesWhatWasRoundedBeforeTheWeightWhenAsked) {
  if (!TakesEverything(GetParam())) {
    Case call(dtype(), {4, 256}, {.round_before_weight = true, .e4m3 = true});
    EXPECT_FALSE(Right(call));
    return;
  }
  Case rounded(dtype(), {4, 256}, {.round_before_weight = true});
  rounded.weight.SetAll([](int64_t) { return 1; });
  ASSERT_TRUE(Right(rounded));
  Case call(dtype(), {4, 256}, {.round_before_weight = true, .e4m3 = true});
  call.weight.SetAll([](int64_t) { return 1; });
  ForcedRun run("rms_norm", GetParam());
  const absl::Status status = call.Call(run);
  ASSERT_TRUE(status.ok()) << status;
  run.Fetch();
  for (int64_t i = 0; i < call.out.size(); ++i) {
    const auto scale = static_cast<float>(call.out_scale.Get(i / 256));
    const auto quotient = static_cast<float>(rounded.out.Get(i)) / scale;
    ASSERT_EQ(call.out.Get(i), NearestE4m3(static_cast<double>(quotient))) << i;
  }
}

TEST_P(RmsNormE4m3Test, ShowsRowsThatAreNotFinite) {
  for (const double value : {kNan, kInf, -kInf}) {
    for (const int64_t place : {0, 77, 127}) {
      Case call(dtype(), {3, 128}, {.e4m3 = true});
      call.x.Set(128 + place, value);
      ASSERT_TRUE(Right(call));
      EXPECT_TRUE(std::isnan(call.out_scale.Get(1)));
      EXPECT_EQ(call.out.Get(128), kE4m3NanCode);
      EXPECT_NE(call.out.Get(0), kE4m3NanCode);
    }
  }
  // With one scale for all, what is finite stays: an infinity makes the others 0.
  Case call(dtype(), {2, 64}, {.e4m3 = true, .static_scale = 0.01});
  call.x.Set(5, kInf);
  ASSERT_TRUE(Right(call));
  EXPECT_EQ(call.out.Get(5), kE4m3NanCode);
  EXPECT_EQ(E4m3Distance(static_cast<int>(call.out.Get(6)), 0), 0);
}

TEST_P(RmsNormE4m3Test, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {133, 2048}, {.e4m3 = true});
  ASSERT_TRUE(Right(many));
  for (const int64_t row : {0, 1, 64, 132}) {
    Case alone(dtype(), {1, 2048}, {.e4m3 = true});
    alone.x.SetAll([&](int64_t i) { return many.x.Get(row * 2048 + i); });
    ASSERT_TRUE(Right(alone));
    EXPECT_EQ(alone.out_scale.Get(0), many.out_scale.Get(row));
    for (int64_t i = 0; i < 2048; ++i)
      ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 2048 + i)) << i;
  }
}

TEST_P(RmsNormE4m3Test, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(dtype(), sizes, {.e4m3 = true});
    EXPECT_TRUE(Right(call));
  }
}

}  // namespace
}  // namespace reel::kernels
