// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/linear.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

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

class LinearTest : public OpTest {
 protected:
  LinearTest() : OpTest("linear") {}
  bool Right(Case& call) { return Matches(call, BoundFor(dtype(), kTerms)); }
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

TEST_F(LinearRefusals, NothingForRowsThatAreNotThere) {
  Case none(Dtype::kF32, {0}, 8, 3);
  EXPECT_TRUE(none.Call(run).ok());
  EXPECT_EQ(run.calls(), 1);
}

}  // namespace
}  // namespace reel::kernels
