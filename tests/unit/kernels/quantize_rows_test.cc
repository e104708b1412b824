// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize_rows/quantize_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/e4m3_codes.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Layout layout = Layout::kContiguous)
      : x(dtype, sizes, layout),
        out(Dtype::kE4m3, sizes, layout),
        scale(Dtype::kF32, {sizes.begin(), sizes.end() - 1}),
        static_scale(Dtype::kF32, {1}) {
    x.FillNormal(1);
  }
  QuantizeRowsArgs Args(ForcedRun& run) {
    QuantizeRowsArgs args;
    args.x = run.Use(x);
    args.out = run.Use(out);
    if (is_static) {
      args.static_scale = run.Use(static_scale);
    } else {
      args.scale = run.Use(scale);
    }
    return args;
  }
  int64_t width() const { return x.view().size(-1); }

  HostTensor x, out, scale, static_scale;
  bool is_static = false;
};

class QuantizeRowsTest : public OpTest {
 protected:
  QuantizeRowsTest() : OpTest("quantize_rows") {}

  // False when the variant does not take the call, which only tuned variants may say.
  bool Run(Case& call) {
    ForcedRun run(op_, GetParam());
    const absl::Status status = QuantizeRows(call.Args(run), run.execution());
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
  // Scales within two steps of fp32; of a thousand codes 999 as they should be, others next to it.
  bool Right(Case& call) {
    if (!Run(call)) return false;
    const int64_t width = call.width();
    int64_t others = 0;
    for (int64_t i = 0; i < call.x.size(); ++i) {
      double scale = call.static_scale.Get(0);
      if (!call.is_static && i % width == 0) ExpectScale(call, i / width);
      if (!call.is_static) scale = call.scale.Get(i / width);
      // The quotient is fp32's, as everywhere.
      const int want = NearestE4m3(
          static_cast<double>(static_cast<float>(call.x.Get(i)) / static_cast<float>(scale)));
      const int got = static_cast<int>(call.out.Get(i));
      EXPECT_LE(E4m3Distance(got, want), 1) << i;
      others += got == want ? 0 : 1;
    }
    EXPECT_LE(others, call.x.size() / 1000 + 1);
    return true;
  }

 private:
  static void ExpectScale(const Case& call, int64_t row) {
    double largest = 1e-12;
    for (int64_t i = 0; i < call.width(); ++i) {
      largest = std::max(largest, std::abs(call.x.Get(row * call.width() + i)));
    }
    EXPECT_NEAR(call.scale.Get(row), largest / 448, largest / 448 * 0x1p-22) << row;
  }
};

INSTANTIATE_TEST_SUITE_P(Variants, QuantizeRowsTest, testing::ValuesIn(VariantsOf("quantize_rows")),
                         NameOf);

TEST_P(QuantizeRowsTest, EqualsTheReferenceAtEveryWidth) {
  int ran = 0;
  for (const int64_t width : {1, 2, 7, 8, 31, 64, 127, 128, 1000, 2048, 2050, 3072, 4096, 8191}) {
    SCOPED_TRACE(width);
    Case call(dtype(), {3, width});
    ran += Right(call) ? 1 : 0;
  }
  EXPECT_GE(ran, TakesEverything(GetParam()) ? 14 : 5);
}

TEST_P(QuantizeRowsTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    for (const auto& sizes : std::vector<std::vector<int64_t>>{{64}, {131, 64}, {2, 5, 72}}) {
      Case call(dtype(), sizes, layout);
      EXPECT_TRUE(Right(call) || layout != Layout::kContiguous);
    }
  }
}

TEST_P(QuantizeRowsTest, TakesAStaticScaleAndCutsWhatIsTooLarge) {
  Case call(dtype(), {5, 256});
  call.is_static = true;
  call.static_scale.Set(0, 0.0021);  // 448 of them are less than 1
  call.x.Set(3, -0.0);
  ASSERT_TRUE(Right(call));
  EXPECT_EQ(call.out.Get(3), 0x80);
  const auto codes = call.out.Values();
  EXPECT_GT(std::count(codes.begin(), codes.end(), kE4m3LargestCode), 0);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), kE4m3NanCode), 0);
}

TEST_P(QuantizeRowsTest, ShowsRowsThatAreNotFinite) {
  for (const double value : {kNan, kInf, -kInf}) {
    for (const int64_t place : {0, 77, 127}) {
      Case call(dtype(), {3, 128});
      call.x.Set(128 + place, value);
      ASSERT_TRUE(Run(call));
      EXPECT_TRUE(std::isnan(call.scale.Get(1)));
      for (int64_t i = 0; i < 128; ++i) ASSERT_EQ(call.out.Get(128 + i), kE4m3NanCode) << i;
      EXPECT_TRUE(std::isfinite(call.scale.Get(0)) && std::isfinite(call.scale.Get(2)));
      EXPECT_NE(call.out.Get(0), kE4m3NanCode);
    }
  }
  Case call(dtype(), {1, 64});
  call.is_static = true;
  call.static_scale.Set(0, 1);
  call.x.Set(5, kNan);
  ASSERT_TRUE(Run(call));
  EXPECT_EQ(call.out.Get(5), kE4m3NanCode);
  EXPECT_NE(call.out.Get(6), kE4m3NanCode);
}

TEST_P(QuantizeRowsTest, KeepsZeroRowsZero) {
  Case call(dtype(), {2, 64});
  call.x.SetAll([](int64_t i) { return i < 64 ? 0.0 : (i == 70 ? -0.0 : 1.0); });
  ASSERT_TRUE(Right(call));
  EXPECT_EQ(call.out.Get(0), 0);
  EXPECT_EQ(call.out.Get(70), 0x80);
  EXPECT_EQ(call.out.Get(64), kE4m3LargestCode);
}

TEST_P(QuantizeRowsTest, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {133, 2048});
  ASSERT_TRUE(Run(many));
  Case alone(dtype(), {1, 2048});
  alone.x.SetAll([&](int64_t i) { return many.x.Get(77 * 2048 + i); });
  ASSERT_TRUE(Run(alone));
  EXPECT_EQ(alone.scale.Get(0), many.scale.Get(77));
  for (int64_t i = 0; i < 2048; ++i) ASSERT_EQ(alone.out.Get(i), many.out.Get(77 * 2048 + i)) << i;
}

TEST_P(QuantizeRowsTest, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(dtype(), sizes);
    EXPECT_TRUE(Run(call));
  }
}

class QuantizeRowsRefusals : public RefusalTest {
 protected:
  QuantizeRowsRefusals() : RefusalTest("quantize_rows"), call(Dtype::kBf16, {2, 8}) {
    args = call.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return QuantizeRows(args, run.execution()); }, call.out, code, text);
  }

  Case call;
  QuantizeRowsArgs args;
};

TEST_F(QuantizeRowsRefusals, WantsOneOfTheTwoScales) {
  args.static_scale = call.static_scale.view();
  Refused(kInvalid, "one of them must be given");
  args.scale.reset();
  args.static_scale.reset();
  Refused(kInvalid, "one of them must be given");
}

TEST_F(QuantizeRowsRefusals, WantsAScaleForEveryRow) {
  args.scale = Slice(*args.scale, 0, 0, 1);
  Refused(kInvalid, "one scale for every row");
}

TEST_F(QuantizeRowsRefusals, WantsTypesAndSizesThatFit) {
  args.x.dtype = Dtype::kF64;
  Refused(kUnimplemented, "x is fp64");
  args.x.dtype = Dtype::kBf16;
  args.out.dtype = Dtype::kU8;
  Refused(kUnimplemented, "out is uint8");
  args.out.dtype = Dtype::kE4m3;
  args.out = Slice(args.out, 1, 0, 7);
  Refused(kInvalid, "Sizes must be equal");
}

TEST_F(QuantizeRowsRefusals, WantsOutputsThatOverlapNothing) {
  args.scale->data = args.x.data;
  Refused(kInvalid, "overlaps another tensor");
}

}  // namespace
}  // namespace reel::kernels
