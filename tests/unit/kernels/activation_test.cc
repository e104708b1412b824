// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation.h"

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tests/unit/kernels/e4m3_codes.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Activation kKinds[] = {Activation::kGeluErf, Activation::kGeluTanh,
                                 Activation::kGeluQuick, Activation::kSilu, Activation::kFatRelu};
constexpr double kThreshold = 0.25;

// The textbook forms, and how strongly an error of fp32 in the exponent shows.
struct Value {
  double value;
  double sensitivity;
};
Value Textbook(Activation kind, double x) {
  const auto sigmoid = [&](double z) { return Value{x / (1 + std::exp(-z)), 1 + std::abs(z)}; };
  switch (kind) {
    case Activation::kGeluErf:
      return {x * 0.5 * std::erfc(-x * std::sqrt(0.5)), 1 + x * x};
    case Activation::kGeluTanh:
      return sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3)));
    case Activation::kGeluQuick:
      return sigmoid(1.702 * x);
    case Activation::kSilu:
      return sigmoid(x);
    case Activation::kFatRelu:
      return {x <= kThreshold ? 0 : x, 1};
  }
  return {0, 0};
}

// Beyond e^88 fp32 has no exponential: what would be smaller than x e^-88 is 0.
double Vanishing(double x) { return std::isfinite(x) ? std::abs(x) * 1e-32 : 0; }

// What a call writes.
struct Output {
  bool e4m3 = false;  // with a scale for each row
  std::optional<double> static_scale = std::nullopt;
};

struct Case : OpCase {
  Case(Dtype dtype, const std::vector<int64_t>& sizes, Activation use_kind,
       Layout layout = Layout::kContiguous, bool biased = false, Output to = {})
      : kind(use_kind),
        with_bias(biased),
        output(to),
        x(dtype, sizes, layout),
        out(to.e4m3 ? Dtype::kE4m3 : dtype, sizes, layout),
        out_scale(Dtype::kF32, {sizes.begin(), sizes.end() - 1}, layout),
        bias(dtype, {sizes.back()}) {
    x.FillNormal(1, 3);
    bias.FillNormal(2);
  }
  ActivationArgs Args(ForcedRun& run) {
    ActivationArgs args{.x = run.Use(x), .bias = std::nullopt, .out = run.Use(out), .kind = kind};
    args.threshold = kThreshold;
    if (with_bias) args.bias = run.Use(bias);
    if (output.e4m3 && !output.static_scale.has_value()) args.out_scale = run.Use(out_scale);
    args.static_out_scale = output.static_scale;
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return ActivationOp(Args(run), run.execution()); }
  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    if (!output.static_scale.has_value()) expected.scale = &out_scale;
    expected.fixed_scale = output.static_scale.value_or(0);
    for (int64_t i = 0; i < x.size(); ++i) {
      const double b = with_bias ? bias.Get(i % bias.size()) : 0;
      const Value y = Textbook(kind, x.Get(i) + b);
      const double slope = with_bias ? std::abs(x.Get(i)) + std::abs(b) : 0;
      expected.Add(y.value, std::abs(y.value) * y.sensitivity + slope + Vanishing(x.Get(i)));
    }
    return {expected};
  }
  Activation kind;
  bool with_bias;
  Output output;
  HostTensor x, out, out_scale, bias;
};

struct GatedCase : OpCase {
  GatedCase(Dtype dtype, std::vector<int64_t> sizes, Activation use_kind, bool first, bool apart,
            Layout layout = Layout::kContiguous)
      : kind(use_kind),
        gate_first(first),
        two_operands(apart),
        x(dtype, Widened(sizes, apart), layout),
        value(dtype, sizes, layout),
        out(dtype, sizes, layout) {
    x.FillNormal(1, 2);
    value.FillNormal(2);
  }
  static std::vector<int64_t> Widened(std::vector<int64_t> sizes, bool apart) {
    if (!apart) sizes.back() *= 2;
    return sizes;
  }
  GatedActivationArgs Args(ForcedRun& run) {
    GatedActivationArgs args{.x = run.Use(x),
                             .value = std::nullopt,
                             .out = run.Use(out),
                             .kind = kind,
                             .gate_first = gate_first,
                             .threshold = kThreshold};
    if (two_operands) args.value = run.Use(value);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return GatedActivation(Args(run), run.execution()); }
  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const int64_t n = out.view().size(-1);
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t row = i / n * 2 * n + i % n;
      const double gate = two_operands ? x.Get(i) : x.Get(gate_first ? row : row + n);
      const double v = two_operands ? value.Get(i) : x.Get(gate_first ? row + n : row);
      const Value y = Textbook(kind, gate);
      expected.Add(y.value * v,
                   std::abs(y.value * v) * y.sensitivity + Vanishing(gate) * std::abs(v));
    }
    return {expected};
  }
  Activation kind;
  bool gate_first;
  bool two_operands;
  HostTensor x, value, out;
};

class ActivationTest : public OpTest {
 protected:
  ActivationTest() : OpTest("activation") {}
  bool Right(OpCase& call) { return Matches(call, BoundFor(dtype(), 16)); }
};
class ActivationE4m3Test : public ActivationTest {};
class GatedActivationTest : public ActivationTest {
 protected:
  GatedActivationTest() { op_ = "gated_activation"; }
};
INSTANTIATE_TEST_SUITE_P(Variants, ActivationTest, testing::ValuesIn(VariantsOf("activation")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, ActivationE4m3Test,
                         testing::ValuesIn(E4m3VariantsOf("activation")), NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, GatedActivationTest,
                         testing::ValuesIn(VariantsOf("gated_activation")), NameOf);

TEST_P(ActivationTest, EqualsTheReferenceForEveryKindWidthAndLayout) {
  int ran = 0;
  for (const Activation kind : kKinds) {
    for (const int64_t width : {1, 7, 33, 64, 1000, 8192}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << " " << width);
      Case call(dtype(), {3, width}, kind);
      ran += Right(call) ? 1 : 0;
    }
    for (const Layout layout : AllLayouts()) {
      Case call(dtype(), {2, 5, 72}, kind, layout, true);
      Right(call);
    }
  }
  EXPECT_GE(ran, 4);
}

TEST_P(ActivationTest, TreatsSpecialValuesAsTorchDoes) {
  for (const Activation kind : kKinds) {
    Case call(dtype(), {1, 16}, kind);
    const double values[] = {kInf, -kInf, NAN, -1e4, 1e4, 0.0, -0.0, 1};
    call.x.SetAll([&](int64_t i) { return values[i % 8]; });
    if (!Right(call)) continue;
    EXPECT_EQ(call.out.Get(0), kInf);
    const bool cut = kind == Activation::kFatRelu;  // to zero, where others multiply by it
    EXPECT_EQ(std::isnan(call.out.Get(1)), !cut);
    EXPECT_TRUE(std::isnan(call.out.Get(2)));
    EXPECT_EQ(call.out.Get(3), 0);
    EXPECT_EQ(std::signbit(call.out.Get(3)), !cut);
    EXPECT_EQ(std::signbit(call.out.Get(6)), !cut);
  }
}

TEST_P(ActivationTest, WritesInPlaceAndTakesEmptyTensors) {
  Case apart(dtype(), {3, 64}, Activation::kSilu);
  Case in_place(dtype(), {3, 64}, Activation::kSilu);
  ASSERT_TRUE(Right(apart));
  ForcedRun run("activation", GetParam());
  ActivationArgs args = in_place.Args(run);
  args.out = args.x;
  ASSERT_TRUE(ActivationOp(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place.x, apart.out));
  Case empty(dtype(), {3, 0}, Activation::kSilu);
  EXPECT_TRUE(Right(empty));
}

TEST_P(ActivationTest, LeavesE4m3ToOthersUnlessItTakesEverything) {
  Case call(dtype(), {3, 64}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
  EXPECT_EQ(Right(call), TakesEverything(GetParam()));
}

TEST_P(ActivationE4m3Test, EqualsTheReferenceForEveryKindWidthAndLayout) {
  int ran = 0;
  for (const Activation kind : kKinds) {
    for (const Output output : {Output{true}, Output{true, 0.031}, Output{true, 1e-25}}) {
      for (const int64_t width : {1, 7, 33, 64, 1000, 2048, 4096, 8192, 16384, 20480}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << " " << width);
        Case call(dtype(), {3, width}, kind, Layout::kContiguous, width == 64, output);
        ran += Right(call) ? 1 : 0;
      }
      for (const Layout layout : AllLayouts()) {
        SCOPED_TRACE(LayoutName(layout));
        Case call(dtype(), {2, 5, 72}, kind, layout, true, output);
        Right(call);
      }
    }
  }
  // Tuned variants have gelu_tanh alone.
  EXPECT_GE(ran, TakesEverything(GetParam()) ? 120 : 10);
}

TEST_P(ActivationE4m3Test, ShowsRowsThatAreNotFinite) {
  const auto special = [&](Output output) {
    Case call(dtype(), {2, 128}, Activation::kGeluTanh, Layout::kContiguous, false, output);
    const double values[] = {kInf, -kInf, NAN, -1e4, 1e4, 0.0, -0.0, 1};
    call.x.SetAll([&](int64_t i) { return i < 128 ? values[i % 8] : 1.0; });
    return call;
  };
  Case own = special({true});
  ASSERT_TRUE(Right(own));
  EXPECT_TRUE(std::isnan(own.out_scale.Get(0)));
  EXPECT_EQ(own.out.Get(7), kE4m3NanCode);
  EXPECT_EQ(own.out.Get(128), kE4m3LargestCode);
  Case fixed = special({true, 0.5});
  ASSERT_TRUE(Right(fixed));
  for (const int64_t i : {0, 1, 2}) EXPECT_EQ(fixed.out.Get(i), kE4m3NanCode) << i;
  EXPECT_EQ(fixed.out.Get(4), kE4m3LargestCode);
  EXPECT_EQ(fixed.out.Get(6), 0x80);
}

// What lies below zero then decides the scale.
TEST_P(ActivationE4m3Test, ScalesRowsWithoutALargeValue) {
  const double mosts[] = {-5.0, -0.5, 0.0, 0.125, 0.27, 0.29, 0.3, 0.31};
  for (const int64_t width : {64, 1000, 8192}) {
    Case call(dtype(), {8, width}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
    call.x.SetAll([&](int64_t i) {
      const int64_t column = i % width;
      return column == width / 2 ? mosts[i / width]
                                 : mosts[i / width] - 0.01 * static_cast<double>(column % 300);
    });
    SCOPED_TRACE(width);
    ASSERT_TRUE(Right(call));
  }
}

// As NaN: its gelu is -infinity times 0.
TEST_P(ActivationE4m3Test, ShowsALoneInfinityBelowZero) {
  for (const double large : {0.0, 4.0}) {
    Case call(dtype(), {1, 8192}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
    call.x.SetAll([&](int64_t i) { return i == 4097 ? -kInf : i == 11 ? large : -0.5; });
    ASSERT_TRUE(Right(call));
    EXPECT_TRUE(std::isnan(call.out_scale.Get(0)));
    for (const int64_t i : {0, 11, 4097, 8191}) EXPECT_EQ(call.out.Get(i), kE4m3NanCode) << i;
  }
}

// Their squares overflow, and what they give is 0.
TEST_P(ActivationE4m3Test, TakesTheLowestNumbersBesideLargeOnes) {
  Case call(dtype(), {1, 1024}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
  call.x.SetAll([&](int64_t i) { return i % 3 == 0 ? -6e4 : i % 3 == 1 ? -1e-7 : 0.5; });
  ASSERT_TRUE(Right(call));
  EXPECT_EQ(call.out.Get(0), 0x80);
  EXPECT_EQ(call.out.Get(2), kE4m3LargestCode);
}

TEST_P(ActivationE4m3Test, GivesARowTheSameBitsAloneAndAmongMany) {
  Case many(dtype(), {133, 8192}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
  ASSERT_TRUE(Right(many));
  for (const int64_t row : {0, 77, 132}) {
    Case alone(dtype(), {1, 8192}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
    alone.x.SetAll([&](int64_t i) { return many.x.Get(row * 8192 + i); });
    ASSERT_TRUE(Right(alone));
    EXPECT_EQ(alone.out_scale.Get(0), many.out_scale.Get(row));
    for (int64_t i = 0; i < 8192; ++i)
      ASSERT_EQ(alone.out.Get(i), many.out.Get(row * 8192 + i)) << i;
  }
}

TEST_P(ActivationE4m3Test, TakesEmptyTensors) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{0, 64}, {3, 0}, {0}}) {
    Case call(dtype(), sizes, Activation::kGeluTanh, Layout::kContiguous, false, {true});
    EXPECT_TRUE(Right(call));
  }
}

TEST_P(GatedActivationTest, EqualsTheReferenceForEveryOrderKindAndLayout) {
  int ran = 0;
  for (const Activation kind : kKinds) {
    for (const bool gate_first : {true, false}) {
      for (const bool two_operands : {true, false}) {
        for (const int64_t width : {1, 7, 64, 1024}) {
          GatedCase call(dtype(), {2, 3, width}, kind, gate_first, two_operands);
          ran += Right(call) ? 1 : 0;
        }
        for (const Layout layout : AllLayouts()) {
          GatedCase call(dtype(), {2, 3, 40}, kind, gate_first, two_operands, layout);
          Right(call);
        }
      }
    }
  }
  EXPECT_GE(ran, 8);
}

class ActivationRefusals : public RefusalTest {
 protected:
  ActivationRefusals() : RefusalTest("gated_activation") {}
  void Refused(const std::function<void(GatedActivationArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    GatedActivationArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return GatedActivation(args, run.execution()); }, call.out, code, text);
  }
  GatedCase call{Dtype::kF32, {2, 8}, Activation::kSilu, true, false};
};

TEST_F(ActivationRefusals, WantsOneScaleForAnE4m3Output) {
  Case e4m3(Dtype::kF32, {2, 8}, Activation::kGeluTanh, Layout::kContiguous, false, {true});
  ActivationArgs args = e4m3.Args(run);
  const auto refused = [&](const std::string& text) {
    ExpectRefused([&] { return ActivationOp(args, run.execution()); }, e4m3.out, kInvalid, text);
  };
  args.static_out_scale = 1;
  refused("one of them must be given");
  args.out_scale.reset();
  args.static_out_scale = kInf;
  refused("static_out_scale must be finite and above zero");
  args.static_out_scale.reset();
  refused("one of them must be given");
  args.static_out_scale = 1;
  args.out = args.x;
  refused("belong to an output in codes: out is fp32");
}

TEST_F(ActivationRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.x = Slice(args.x, 1, 0, 15); }, kInvalid, "odd width differ: 15");
  Refused([](auto& args) { args.x = Slice(args.x, 1, 0, 14); }, kInvalid, "half as wide");
  Refused([](auto& args) { args.value = args.out; }, kInvalid, "must be equal: value");
  Refused([](auto& args) { args.out = Slice(args.x, 1, 0, 8); }, kInvalid, "overlaps");
  Refused([](auto& args) { args.x.dtype = Dtype::kU8; }, kUnimplemented, "x is uint8");
  Refused([](auto& args) { args.out.dtype = Dtype::kF16; }, kInvalid, "half as wide");
}

}  // namespace
}  // namespace reel::kernels
