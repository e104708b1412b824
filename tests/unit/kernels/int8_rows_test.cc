// SPDX-License-Identifier: Apache-2.0
#include "kernels/int8_rows/int8_rows.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/int8_codes.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout = Layout::kContiguous)
      : x(dtype, sizes, layout),
        out(Dtype::kI8, sizes, layout),
        scale(Dtype::kF32, {sizes.begin(), sizes.end() - 1}) {
    x.FillNormal(1);
  }
  Int8RowsArgs Args(ForcedRun& run) {
    return {.x = run.Use(x), .out = run.Use(out), .scale = run.Use(scale), .gelu = gelu};
  }
  int64_t width() const { return x.view().size(-1); }

  Expected Reference() const {
    Expected expected{.output = &out, .want = {}, .magnitude = {}, .scale = &scale};
    for (int64_t i = 0; i < x.size(); ++i) expected.want.push_back(Z(i));
    return expected;
  }
  double Z(int64_t index) const {
    const double value = x.Get(index);
    if (!gelu) return value;
    return 0.5 * value *
           (1 +
            std::tanh(std::sqrt(2 / std::acos(-1.0)) * (value + 0.044715 * std::pow(value, 3))));
  }

  HostTensor x, out, scale;
  bool gelu = false;
};

class Int8RowsTest : public OpTest {
 protected:
  Int8RowsTest() : OpTest("int8_rows") {}

  // False when the variant does not take the call, which only tuned variants may say.
  bool Run(Case& call) {
    ForcedRun run(op_, GetParam());
    const absl::Status status = Int8Rows(call.Args(run), run.execution());
    if (status.code() == absl::StatusCode::kFailedPrecondition && !TakesEverything(GetParam())) {
      return false;
    }
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(run.calls(), 1);
    run.Fetch();
    EXPECT_TRUE(call.out.SurroundingsIntact());
    EXPECT_TRUE(call.scale.SurroundingsIntact());
    return true;
  }
  bool Right(Case& call) {
    if (!Run(call)) return false;
    EXPECT_TRUE(Int8Within(call.Reference()));
    return true;
  }
};

INSTANTIATE_TEST_SUITE_P(Variants, Int8RowsTest, testing::ValuesIn(VariantsOf("int8_rows")),
                         NameOf);

TEST_P(Int8RowsTest, EqualsTheDefinitionAtEveryWidth) {
  for (const int64_t width : {32, 64, 96, 192, 1024, 1056, 2048, 3072, 4096, 8192, 16384}) {
    SCOPED_TRACE(width);
    for (const bool gelu : {false, true}) {
      Case call(dtype(), {3, width});
      call.gelu = gelu;
      EXPECT_TRUE(Right(call));
    }
  }
}

TEST_P(Int8RowsTest, EqualsTheDefinitionInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    for (const auto& sizes : std::vector<std::vector<int64_t>>{{64}, {131, 64}, {2, 5, 96}}) {
      Case call(dtype(), sizes, layout);
      EXPECT_TRUE(Right(call) || layout != Layout::kContiguous);
    }
  }
}

// What it is for: the product of two rows is that of their codes, times their scales.
TEST_P(Int8RowsTest, KeepsTheProductOfTwoRowsWhereAChannelStandsOut) {
  const int64_t width = 2048;
  Case call(dtype(), {2, width});
  call.x.Set(77, 100);
  call.x.Set(width + 77, 0.01);
  ASSERT_TRUE(Run(call));
  double want = 0, terms = 0, got = 0;
  for (int64_t i = 0; i < width; ++i) {
    const double term = call.x.Get(i) * call.x.Get(width + i);
    want += term;
    terms += term * term;
    got += call.out.Get(i) * call.out.Get(width + i);
  }
  got *= call.scale.Get(0) * call.scale.Get(1);
  // By codes of a row whose largest is 100, as it stands, all others would be 0 or 1.
  EXPECT_NEAR(got, want, 0.06 * std::sqrt(terms));
}

TEST_P(Int8RowsTest, ShowsRowsThatAreNotFinite) {
  for (const double value : {kNan, kInf, -kInf}) {
    for (const int64_t place : {0, 77, 127}) {
      Case call(dtype(), {3, 128});
      call.x.Set(128 + place, value);
      ASSERT_TRUE(Run(call));
      EXPECT_TRUE(std::isnan(call.scale.Get(1)));
      EXPECT_TRUE(std::isfinite(call.scale.Get(0)) && std::isfinite(call.scale.Get(2)));
    }
  }
}

TEST_P(Int8RowsTest, KeepsZeroRowsZero) {
  Case call(dtype(), {2, 64});
  for (int64_t i = 0; i < 64; ++i) call.x.Set(i, 0);
  ASSERT_TRUE(Right(call));
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(call.out.Get(i), 0);
}

TEST_P(Int8RowsTest, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {133, 2048});
  ASSERT_TRUE(Run(many));
  Case alone(dtype(), {1, 2048});
  alone.x.SetAll([&](int64_t i) { return many.x.Get(77 * 2048 + i); });
  ASSERT_TRUE(Run(alone));
  EXPECT_EQ(alone.scale.Get(0), many.scale.Get(77));
  for (int64_t i = 0; i < 2048; ++i) ASSERT_EQ(alone.out.Get(i), many.out.Get(77 * 2048 + i)) << i;
}

TEST_P(Int8RowsTest, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(dtype(), sizes);
    EXPECT_TRUE(Run(call));
  }
}

class Int8RowsRefusals : public RefusalTest {
 protected:
  Int8RowsRefusals() : RefusalTest("int8_rows"), call(Dtype::kBf16, {2, 64}) {
    args = call.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return Int8Rows(args, run.execution()); }, call.out, code, text);
  }

  Case call;
  Int8RowsArgs args;
};

TEST_F(Int8RowsRefusals, WantsAWidthThatIsTurnedInGroups) {
  args.x = Slice(args.x, 1, 0, 48);
  args.out = Slice(args.out, 1, 0, 48);
  Refused(kInvalid, "The width must be a multiple of 32");
}

TEST_F(Int8RowsRefusals, WantsAScaleForEveryRow) {
  args.scale = Slice(args.scale, 0, 0, 1);
  Refused(kInvalid, "one scale for every row");
}

TEST_F(Int8RowsRefusals, WantsTypesAndSizesThatFit) {
  args.x.dtype = Dtype::kF64;
  Refused(kUnimplemented, "x is fp64");
  args.x.dtype = Dtype::kBf16;
  args.out.dtype = Dtype::kU8;
  Refused(kUnimplemented, "out is uint8");
  args.out.dtype = Dtype::kI8;
  args.out = Slice(args.out, 1, 0, 32);
  Refused(kInvalid, "Sizes must be equal");
}

TEST_F(Int8RowsRefusals, WantsOutputsThatOverlapNothing) {
  args.scale.data = args.x.data;
  Refused(kInvalid, "overlaps another tensor");
}

}  // namespace
}  // namespace reel::kernels
