// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/linear.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/kernels/e4m3_codes.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kTerms = 32;  // of 2^-24 of the terms: fp32 sums, in any order

struct Form {
  bool bias = true;
  bool fp32_bias = false;
};

struct Case : OpCase {
  Case(Dtype dtype, std::vector<int64_t> leads, int64_t wide, int64_t outputs, Form use = {},
       Layout layout = Layout::kContiguous)
      : width(wide),
        form(use),
        x(dtype, With(leads, wide), layout),
        weight(dtype, {outputs, wide}, layout),
        bias(use.fp32_bias ? Dtype::kF32 : dtype, {outputs}, layout),
        out(dtype, With(leads, outputs), layout) {
    x.FillNormal(1);
    weight.FillNormal(2);
    bias.FillNormal(3);
  }
  static std::vector<int64_t> With(std::vector<int64_t> leads, int64_t last) {
    leads.push_back(last);
    return leads;
  }

  LinearArgs Args(ForcedRun& run) {
    return {.x = run.Use(x),
            .weight = run.Use(weight),
            .bias = form.bias ? std::optional(run.Use(bias)) : std::nullopt,
            .out = run.Use(out)};
  }
  absl::Status Call(ForcedRun& run) override { return Linear(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const int64_t outputs = bias.size(), rows = out.size() / outputs;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = form.bias ? bias.Get(o) : 0, terms = std::abs(sum);
        for (int64_t i = 0; i < width; ++i) {
          const double term = x.Get(row * width + i) * weight.Get(o * width + i);
          sum += term;
          terms += std::abs(term);
        }
        expected.Add(sum, terms);
      }
    }
    return {expected};
  }

  int64_t width;
  Form form;
  HostTensor x, weight, bias, out;
};

// In 8 bits: codes of all values but NaN, and scales of each row and each output.
struct CodesCase : OpCase {
  CodesCase(Dtype codes, Dtype dtype, std::vector<int64_t> leads, int64_t wide, int64_t outputs,
            Form use = {}, Layout layout = Layout::kContiguous)
      : width(wide),
        form(use),
        x(codes, Case::With(leads, wide), layout),
        weight(codes, {outputs, wide}, layout),
        x_scale(Dtype::kF32, leads),
        weight_scale(Dtype::kF32, {outputs}, layout),
        bias(use.fp32_bias ? Dtype::kF32 : dtype, {outputs}, layout),
        out(dtype, Case::With(leads, outputs), layout) {
    x.SetAll([&](int64_t i) { return CodeOf((i * 37 + 11) % 0x7F, i % 3 == 0); });
    weight.SetAll([&](int64_t i) { return CodeOf((i * 53 + 5) % 0x7F, i % 5 == 0); });
    x_scale.SetAll([](int64_t i) { return 0x1p-9 * static_cast<double>(i % 7 + 1); });
    weight_scale.SetAll([](int64_t i) { return 0x1p-12 * static_cast<double>(i % 3 + 1); });
    bias.FillNormal(3);
  }
  bool is_int8() const { return x.view().dtype == Dtype::kI8; }
  double CodeOf(int64_t size, bool negative) const {
    if (is_int8()) return static_cast<double>(negative ? -size : size);
    return static_cast<double>(size + (negative ? 0x80 : 0));
  }
  double ValueOf(double code) const {
    return is_int8() ? code : ValueOfE4m3(static_cast<int>(code));
  }
  LinearArgs Args(ForcedRun& run) {
    return {.x = run.Use(x),
            .weight = run.Use(weight),
            .bias = form.bias ? std::optional(run.Use(bias)) : std::nullopt,
            .out = run.Use(out),
            .x_scale = run.Use(x_scale),
            .weight_scale = run.Use(weight_scale)};
  }
  absl::Status Call(ForcedRun& run) override { return Linear(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const int64_t outputs = bias.size(), rows = out.size() / outputs;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = 0, terms = 0;
        for (int64_t i = 0; i < width; ++i) {
          const double term = ValueOf(x.Get(row * width + i)) * ValueOf(weight.Get(o * width + i));
          sum += term;
          terms += std::abs(term);
        }
        const double scale = x_scale.Get(row) * weight_scale.Get(o);
        const double offset = form.bias ? bias.Get(o) : 0;
        expected.Add(sum * scale + offset, terms * scale + std::abs(offset));
      }
    }
    return {expected};
  }

  int64_t width;
  Form form;
  HostTensor x, weight, x_scale, weight_scale, bias, out;
};

class LinearTest : public OpTest {
 protected:
  LinearTest() : OpTest("linear") {}
  bool Right(OpCase& call) { return Matches(call, BoundFor(dtype(), kTerms)); }
};
INSTANTIATE_TEST_SUITE_P(Variants, LinearTest, testing::ValuesIn(VariantsOf("linear")), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LinearTest);

TEST_P(LinearTest, EqualsTheReferenceAtEverySize) {
  for (const int64_t width : {1, 8, 31, 64, 257}) {
    for (const int64_t outputs : {1, 16, 33}) {
      SCOPED_TRACE(testing::Message() << width << " to " << outputs);
      Case call(dtype(), {5}, width, outputs);
      EXPECT_TRUE(Right(call));
    }
  }
}

TEST_P(LinearTest, EqualsTheReferenceInEveryLayoutAndForm) {
  for (const Layout layout : AllLayouts()) {
    for (const Form form : {Form{}, Form{.bias = false}, Form{.fp32_bias = true}}) {
      SCOPED_TRACE(LayoutName(layout));
      Case one(dtype(), {}, 40, 24, form, layout), many(dtype(), {2, 3, 2}, 40, 9, form, layout);
      EXPECT_TRUE(Right(one));
      EXPECT_TRUE(Right(many));
    }
  }
}

TEST_P(LinearTest, GivesTheBiasForRowsWithoutColumns) {
  Case call(dtype(), {3}, 0, 8);
  ForcedRun run(op_, GetParam());
  ASSERT_TRUE(call.Call(run).ok());
  run.Fetch();
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(call.out.Get(i), call.bias.Get(i % 8)) << i;
}

TEST_P(LinearTest, CarriesWhatIsNotANumber) {
  Case call(dtype(), {2}, 8, 3);
  call.x.Set(3, std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(Right(call));
  EXPECT_TRUE(std::isnan(call.out.Get(0)));
  EXPECT_FALSE(std::isnan(call.out.Get(3)));
}

TEST_P(LinearTest, MultipliesE4m3ByTheScalesOfRowsAndOutputs) {
  for (const Layout layout : AllLayouts()) {
    for (const Form form : {Form{}, Form{.bias = false}, Form{.fp32_bias = true}}) {
      SCOPED_TRACE(LayoutName(layout));
      CodesCase one(Dtype::kE4m3, dtype(), {1}, 48, 24, form, layout);
      CodesCase many(Dtype::kE4m3, dtype(), {2, 3}, 33, 9, form, layout);
      EXPECT_TRUE(Right(one));
      EXPECT_TRUE(Right(many));
    }
  }
}

class LinearInt8Test : public LinearTest {
 protected:
  struct Int8Case : CodesCase {
    template <typename... Args>
    explicit Int8Case(Args&&... args) : CodesCase(Dtype::kI8, std::forward<Args>(args)...) {}
  };
  // Sums in int32 are exact; the rest are four roundings.
  bool Exact(OpCase& call) { return Matches(call, BoundFor(dtype(), 1)); }
  void ExpectEqualRowsHaveEqualBits(int64_t width, int64_t outputs, int64_t most_rows);
};
INSTANTIATE_TEST_SUITE_P(Variants, LinearInt8Test, testing::ValuesIn(Int8VariantsOf("linear")),
                         NameOf);

TEST_P(LinearInt8Test, EqualsTheReferenceAtEverySize) {
  const auto sizes = std::vector<std::vector<int64_t>>{
      {1, 16, 8},    {5, 32, 16},   {64, 128, 128}, {77, 160, 264},
      {128, 64, 72}, {129, 48, 40}, {260, 32, 520}, {3, 1040, 136}};
  int taken = 0;
  for (const auto& size : sizes) {
    SCOPED_TRACE(testing::Message() << size[0] << "x" << size[1] << " to " << size[2]);
    Int8Case call(dtype(), std::vector<int64_t>{size[0]}, size[1], size[2]);
    taken += Exact(call) ? 1 : 0;
  }
  EXPECT_EQ(taken, TakesEverything(GetParam()) || dtype() != Dtype::kF32 ? 8 : 0);
}

TEST_P(LinearInt8Test, EqualsTheReferenceInEveryLayoutAndForm) {
  for (const Layout layout : AllLayouts()) {
    for (const Form form : {Form{}, Form{.bias = false}, Form{.fp32_bias = true}}) {
      SCOPED_TRACE(LayoutName(layout));
      Int8Case one(dtype(), std::vector<int64_t>{1}, 48, 24, form, layout);
      Int8Case many(dtype(), std::vector<int64_t>{2, 3}, 96, 40, form, layout);
      const bool plain = layout == Layout::kContiguous && dtype() != Dtype::kF32;
      EXPECT_TRUE(Exact(one) || !plain);
      EXPECT_TRUE(Exact(many) || !plain);
    }
  }
}

TEST_P(LinearInt8Test, HoldsTheLargestSums) {
  Int8Case call(dtype(), std::vector<int64_t>{2}, 8192, 8, Form{.bias = false});
  call.x.SetAll([](int64_t) { return -127.0; });
  call.weight.SetAll([](int64_t i) { return i % 2 == 0 ? 127.0 : -127.0; });
  for (int64_t i = 0; i < 8192; ++i) call.weight.Set(i, 127);
  call.x_scale.SetAll([](int64_t) { return 0x1p-20; });
  EXPECT_TRUE(Exact(call) || dtype() == Dtype::kF32);
}

TEST_P(LinearInt8Test, GivesARowTheSameBitsAloneAndAmongMany) {
  const int64_t width = 64, outputs = 264;
  Int8Case many(dtype(), std::vector<int64_t>{270}, width, outputs);
  Int8Case alone(dtype(), std::vector<int64_t>{1}, width, outputs);
  const int64_t row = 231;
  for (int64_t i = 0; i < width; ++i) alone.x.Set(i, many.x.Get(row * width + i));
  alone.x_scale.Set(0, many.x_scale.Get(row));
  if (!Exact(many)) {
    EXPECT_EQ(dtype(), Dtype::kF32);
    return;
  }
  ASSERT_TRUE(Exact(alone));
  for (int64_t o = 0; o < outputs; ++o) {
    ASSERT_EQ(alone.out.Get(o), many.out.Get(row * outputs + o)) << o;
  }
}

// More rows than a device's cache holds are processed in bands. Rows that would leave most
// multiprocessors idle at the end use other tiles than the rest.
TEST_P(LinearInt8Test, GivesEqualRowsTheSameBitsWhereverTheyAre) {
  ExpectEqualRowsHaveEqualBits(8192, 264, 3300);
  ExpectEqualRowsHaveEqualBits(2048, 2048, 2240);
}
void LinearInt8Test::ExpectEqualRowsHaveEqualBits(int64_t width, int64_t outputs,
                                                  int64_t most_rows) {
  constexpr int64_t different = 7;
  const int64_t rows = TakesEverything(GetParam()) ? 2 * different : most_rows;
  Int8Case few(dtype(), std::vector<int64_t>{different}, width, outputs);
  Int8Case many(dtype(), std::vector<int64_t>{rows}, width, outputs);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      many.x.Set(row * width + i, few.x.Get(row % different * width + i));
    }
    many.x_scale.Set(row, few.x_scale.Get(row % different));
  }
  for (Int8Case* call : {&few, &many}) {
    ForcedRun run(op_, GetParam());
    const absl::Status status = call->Call(run);
    if (dtype() == Dtype::kF32 && !status.ok()) return;
    ASSERT_TRUE(status.ok()) << status;
    run.Fetch();
  }
  for (int64_t i = 0; i < many.out.size(); ++i) {
    ASSERT_EQ(many.out.Get(i), few.out.Get(i % (different * outputs))) << i / outputs;
  }
}

TEST_P(LinearInt8Test, CarriesAScaleThatIsNotANumber) {
  Int8Case call(dtype(), std::vector<int64_t>{3}, 32, 8);
  call.x_scale.Set(1, std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(Exact(call) || dtype() == Dtype::kF32);
  EXPECT_TRUE(dtype() == Dtype::kF32 || std::isnan(call.out.Get(8)));
  EXPECT_FALSE(dtype() != Dtype::kF32 && std::isnan(call.out.Get(0)));
}

TEST_P(LinearTest, CarriesANanOfE4m3AndOfItsScale) {
  CodesCase call(Dtype::kE4m3, dtype(), {3}, 8, 2);
  call.x.Set(3, kE4m3NanCode);
  call.x_scale.Set(1, std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(Right(call));
  EXPECT_TRUE(std::isnan(call.out.Get(0)));
  EXPECT_TRUE(std::isnan(call.out.Get(2)));
  EXPECT_FALSE(std::isnan(call.out.Get(4)));
}

class LinearRefusals : public RefusalTest {
 protected:
  LinearRefusals() : RefusalTest("linear"), call(Dtype::kF32, {2}, 8, 3) {}
  void Refused(const LinearArgs& args, absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return Linear(args, run.execution()); }, call.out, code, text);
  }
  Case call;
};

TEST_F(LinearRefusals, OtherSizes) {
  LinearArgs args = call.Args(run);
  args.weight.sizes[1] = 4;
  Refused(args, kInvalid, "The widths must be equal");
  args = call.Args(run);
  args.out.sizes[0] = 1;
  Refused(args, kInvalid, "The sizes do not fit");
  args = call.Args(run);
  args.bias->sizes[0] = 2;
  Refused(args, kInvalid, "bias");
}

TEST_F(LinearRefusals, OtherTypesAndAnOutputThatIsAnInput) {
  LinearArgs args = call.Args(run);
  args.weight.dtype = Dtype::kF16;
  Refused(args, kInvalid, "The dtypes must be equal");
  args = call.Args(run);
  args.x.dtype = Dtype::kF64;
  Refused(args, kUnimplemented, "x is fp64");
  args = call.Args(run);
  args.out.data = args.x.data;
  Refused(args, kInvalid, "overlaps");
}

TEST_F(LinearRefusals, E4m3WithoutItsScalesAndScalesWithoutE4m3) {
  CodesCase eight(Dtype::kE4m3, Dtype::kF32, {2}, 8, 3);
  const auto refused = [&](const LinearArgs& args, const std::string& text) {
    ExpectRefused([&] { return Linear(args, run.execution()); }, eight.out, kInvalid, text);
  };
  LinearArgs args = eight.Args(run);
  args.weight_scale.reset();
  refused(args, "x_scale and weight_scale belong to e4m3 and int8");
  args = eight.Args(run);
  args.x_scale->sizes[0] = 1;
  refused(args, "one scale for every row");
  args = eight.Args(run);
  args.weight_scale->sizes[0] = 2;
  refused(args, "weight_scale");
  args = eight.Args(run);
  args.weight = run.Use(call.weight);
  refused(args, "The dtypes must be equal");
  args = call.Args(run);
  args.x_scale = run.Use(eight.x_scale);
  Refused(args, kInvalid, "x_scale and weight_scale belong to e4m3 and int8");
}

TEST_F(LinearRefusals, NothingForRowsThatAreNotThere) {
  Case none(Dtype::kF32, {0}, 8, 3);
  EXPECT_TRUE(none.Call(run).ok());
  EXPECT_EQ(run.calls(), 1);
}

}  // namespace
}  // namespace reel::kernels
