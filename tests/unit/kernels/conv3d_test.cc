// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv3d/conv3d.h"

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kTerms = 32;

using Sides = std::array<int64_t, 3>;

struct Sizes {
  int64_t batch = 1, in = 3, out = 4;
  Sides sides = {4, 5, 6};
  Sides kernel = {3, 3, 3};
  Sides stride = {1, 1, 1};
  Sides padding = {0, 1, 1};

  int64_t Side(size_t d) const { return (sides[d] + 2 * padding[d] - kernel[d]) / stride[d] + 1; }
};

// Index of a place in a tensor [a, b, ...sides].
int64_t IndexOf(int64_t outer, int64_t channels, int64_t channel, const Sides& sides,
                const Sides& at) {
  return (((outer * channels + channel) * sides[0] + at[0]) * sides[1] + at[1]) * sides[2] + at[2];
}

template <typename Visit>
void ForEach(const Sides& sides, Visit&& visit) {
  for (int64_t f = 0; f < sides[0]; ++f) {
    for (int64_t h = 0; h < sides[1]; ++h) {
      for (int64_t w = 0; w < sides[2]; ++w) visit(Sides{f, h, w});
    }
  }
}

struct Case : OpCase {
  Case(Dtype dtype, const Sizes& of, bool use_bias = true, Layout layout = Layout::kContiguous)
      : sizes(of),
        has_bias(use_bias),
        x(dtype, {of.batch, of.in, of.sides[0], of.sides[1], of.sides[2]}, layout),
        weight(dtype, {of.out, of.in, of.kernel[0], of.kernel[1], of.kernel[2]}, layout),
        bias(dtype, {of.out}),
        out(dtype, {of.batch, of.out, of.Side(0), of.Side(1), of.Side(2)}, layout) {
    x.FillNormal(1);
    weight.FillNormal(2);
    bias.FillNormal(3);
  }

  Conv3dArgs Args(ForcedRun& run) {
    return {.x = run.Use(x),
            .weight = run.Use(weight),
            .bias = has_bias ? std::optional(run.Use(bias)) : std::nullopt,
            .out = run.Use(out),
            .stride = sizes.stride,
            .padding = sizes.padding};
  }
  absl::Status Call(ForcedRun& run) override { return Conv3d(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const Sides outs = {sizes.Side(0), sizes.Side(1), sizes.Side(2)};
    for (int64_t b = 0; b < sizes.batch; ++b) {
      for (int64_t o = 0; o < sizes.out; ++o) {
        ForEach(outs, [&](const Sides& at) { AddAt(b, o, at, expected); });
      }
    }
    return {expected};
  }

  void AddAt(int64_t b, int64_t o, const Sides& at, Expected& expected) const {
    double sum = has_bias ? bias.Get(o) : 0, terms = std::abs(sum);
    for (int64_t c = 0; c < sizes.in; ++c) {
      ForEach(sizes.kernel, [&](const Sides& tap) {
        Sides from;
        for (size_t d = 0; d < 3; ++d) {
          from[d] = at[d] * sizes.stride[d] - sizes.padding[d] + tap[d];
          if (from[d] < 0 || from[d] >= sizes.sides[d]) return;
        }
        const double term = x.Get(IndexOf(b, sizes.in, c, sizes.sides, from)) *
                            weight.Get(IndexOf(o, sizes.in, c, sizes.kernel, tap));
        sum += term;
        terms += std::abs(term);
      });
    }
    expected.Add(sum, terms);
  }

  Sizes sizes;
  bool has_bias;
  HostTensor x, weight, bias, out;
};

class Conv3dTest : public OpTest {
 protected:
  Conv3dTest() : OpTest("conv3d") {}
  bool Right(Case& call) { return Matches(call, BoundFor(dtype(), kTerms)); }
};
INSTANTIATE_TEST_SUITE_P(Variants, Conv3dTest, testing::ValuesIn(VariantsOf("conv3d")), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conv3dTest);

TEST_P(Conv3dTest, EqualsTheReferenceForEveryKernelStrideAndPadding) {
  const Sizes all[] = {{},
                       {.batch = 2, .in = 1, .out = 5},
                       {.kernel = {1, 1, 1}, .padding = {0, 0, 0}},
                       {.stride = {2, 2, 2}, .padding = {1, 1, 1}},
                       {.kernel = {3, 1, 2}, .stride = {1, 3, 2}, .padding = {2, 0, 1}}};
  for (const Sizes& sizes : all) {
    for (const bool bias : {true, false}) {
      Case call(dtype(), sizes, bias);
      EXPECT_TRUE(Right(call));
    }
  }
}

TEST_P(Conv3dTest, EqualsTheReferenceInEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    SCOPED_TRACE(LayoutName(layout));
    Case call(dtype(), {}, true, layout);
    EXPECT_TRUE(Right(call));
  }
}

class Conv3dRefusals : public RefusalTest {
 protected:
  Conv3dRefusals() : RefusalTest("conv3d"), call(Dtype::kF32, {}) {}
  void Refused(const Conv3dArgs& args, absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return Conv3d(args, run.execution()); }, call.out, code, text);
  }
  Case call;
};

TEST_F(Conv3dRefusals, OtherSizes) {
  Conv3dArgs args = call.Args(run);
  args.weight.sizes[1] = 2;
  Refused(args, kInvalid, "The channels must be equal");
  args = call.Args(run);
  args.padding = {0, 0, 0};
  Refused(args, kInvalid, "The sizes do not fit");
  args = call.Args(run);
  args.stride = {1, 0, 1};
  Refused(args, kInvalid, "A stride must be at least 1");
  args = call.Args(run);
  args.padding = {0, -1, 1};
  Refused(args, kInvalid, "A padding must not be negative");
  args = call.Args(run);
  args.bias->sizes[0] = 3;
  Refused(args, kInvalid, "bias");
}

TEST_F(Conv3dRefusals, OtherTypesAndAnOutputThatIsAnInput) {
  Conv3dArgs args = call.Args(run);
  args.out.dtype = Dtype::kF16;
  Refused(args, kInvalid, "The dtypes must be equal");
  args = call.Args(run);
  args.weight.dtype = Dtype::kI32;
  Refused(args, kUnimplemented, "weight is");
  args = call.Args(run);
  args.out.data = args.x.data;
  Refused(args, kInvalid, "overlaps");
}

}  // namespace
}  // namespace reel::kernels
