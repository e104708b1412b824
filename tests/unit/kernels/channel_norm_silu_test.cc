// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_norm_silu/channel_norm_silu.h"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

struct Form {
  int64_t front = 1;
  int64_t back = 1;
  bool modulated = true;
  bool silu = true;
  bool summed = false;  // with a residual and a bias, and the sum as an output
};

struct Case : OpCase {
  Case(const Form& use, Dtype dtype, const std::vector<int64_t>& sizes,
       Layout layout = Layout::kContiguous)
      : form(use),
        x(dtype, sizes, layout),
        out(dtype, {sizes[0], use.front + sizes[1] + use.back, sizes[2], sizes[3], sizes[4]},
            layout),
        scale(dtype, {sizes[0], sizes[4]}),
        shift(Dtype::kF32, {sizes[0], sizes[4]}),
        residual(dtype, sizes, layout),
        bias(dtype, {sizes[4]}),
        sum(dtype, sizes, layout) {
    residual.FillNormal(4);
    bias.FillNormal(5);
    x.FillNormal(1);
    scale.FillNormal(2);
    shift.FillNormal(3);
  }
  ChannelNormSiluArgs Args(ForcedRun& run) {
    ChannelNormSiluArgs args;
    args.x = run.Use(x);
    args.out = run.Use(out);
    if (form.modulated) {
      args.scale = run.Use(scale);
      args.shift = run.Use(shift);
    }
    if (form.summed) {
      args.residual = run.Use(residual);
      args.bias = run.Use(bias);
      args.sum = run.Use(sum);
    }
    args.pad_front = form.front;
    args.pad_back = form.back;
    args.silu = form.silu;
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return ChannelNormSilu(Args(run), run.execution()); }

  // What the norm is of.
  double Input(int64_t i) const {
    return form.summed ? x.Get(i) + residual.Get(i) + bias.Get(i % bias.size()) : x.Get(i);
  }
  double Terms(int64_t i) const {
    const double added = std::abs(residual.Get(i)) + std::abs(bias.Get(i % bias.size()));
    return std::abs(x.Get(i)) + (form.summed ? added : 0);
  }
  Expected Sums() const {
    Expected expected{&sum, {}, {}};
    for (int64_t i = 0; i < sum.size(); ++i) expected.Add(Input(i), Terms(i));
    return expected;
  }
  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const TensorView in = x.view();
    const int64_t channels = in.size(4);
    const int64_t frame = in.size(2) * in.size(3) * channels;
    const int64_t out_frames = out.view().size(1);
    double rms = 1;
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t batch = i / (frame * out_frames);
      const int64_t source =
          std::min(std::max<int64_t>(i / frame % out_frames - form.front, 0), in.size(1) - 1);
      const int64_t pixel = (batch * in.size(1) + source) * frame + i % frame / channels * channels;
      const int64_t c = i % channels;
      if (c == 0) {
        double squares = 0;
        for (int64_t k = 0; k < channels; ++k) squares += std::pow(Input(pixel + k), 2);
        rms = std::sqrt(squares / static_cast<double>(channels) + 1e-8);
      }
      double v = Input(pixel + c) / rms;
      double terms = Terms(pixel + c) / rms;
      if (form.modulated) {
        const double factor = 1 + scale.Get(batch * channels + c);
        const double addend = shift.Get(batch * channels + c);
        terms = terms * std::abs(factor) + std::abs(addend);
        v = v * factor + addend;
      }
      const double gate = form.silu ? 1 / (1 + std::exp(-v)) : 1;
      // The slope of silu is 1.1 at most; its own fp32 error grows with the exponent.
      expected.Add(v * gate, 1.1 * terms + std::abs(v * gate) * (1 + std::abs(v)));
    }
    if (form.summed) return {expected, Sums()};
    return {expected};
  }

  Form form;
  HostTensor x, out, scale, shift, residual, bias, sum;
};

class ChannelNormSiluTest : public OpTest {
 protected:
  ChannelNormSiluTest() : OpTest("channel_norm_silu") {}
  bool Right(Case& call) {
    return Matches(call,
                   BoundFor(dtype(), 16 + std::log2(static_cast<double>(call.x.view().size(4)))));
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, ChannelNormSiluTest,
                         testing::ValuesIn(VariantsOf("channel_norm_silu")), NameOf);

TEST_P(ChannelNormSiluTest, EqualsTheReferenceForEveryNumberOfChannelsAndFrames) {
  int ran = 0;
  for (const int64_t channels : {3, 128, 256, 512, 1024}) {
    for (const int64_t frames : {1, 2, 7}) {
      SCOPED_TRACE(testing::Message() << channels << " " << frames);
      Case call({}, dtype(), {2, frames, 2, 2, channels});
      ran += Right(call) ? 1 : 0;
    }
  }
  EXPECT_GE(ran, 12);
}

TEST_P(ChannelNormSiluTest, EqualsTheReferenceInEveryPaddingFormAndLayout) {
  const Form forms[] = {
      {}, {.front = 2, .back = 0}, {.front = 0, .back = 0}, {.modulated = false}, {.silu = false}};
  for (const Form& form : forms) {
    for (const Layout layout : AllLayouts()) {
      SCOPED_TRACE(LayoutName(layout));
      Case call(form, dtype(), {2, 3, 2, 3, 16}, layout);
      Right(call);
    }
  }
}

TEST_P(ChannelNormSiluTest, NormsASumAndWritesIt) {
  for (const int64_t channels : {6, 128, 256, 512, 1024}) {
    for (const bool modulated : {false, true}) {
      SCOPED_TRACE(testing::Message() << channels << (modulated ? " modulated" : ""));
      Case call({.modulated = modulated, .summed = true}, dtype(), {2, 3, 3, 5, channels});
      Right(call);
    }
  }
}

TEST_P(ChannelNormSiluTest, AddsOnlyWhatIsThere) {
  for (const int part : {0, 1, 2}) {
    SCOPED_TRACE(part);
    Case call({.summed = true}, dtype(), {1, 2, 2, 3, 16});
    ForcedRun run("channel_norm_silu", GetParam());
    ChannelNormSiluArgs args = call.Args(run);
    if (part != 0) args.residual.reset();
    if (part != 1) args.bias.reset();
    if (part != 2) args.sum.reset();
    if (!ChannelNormSilu(args, run.execution()).ok()) continue;  // what a tuned row may say
    run.Fetch();
    if (part != 0) call.residual.SetAll([](int64_t) { return 0; });
    if (part != 1) call.bias.SetAll([](int64_t) { return 0; });
    std::vector<Expected> expected = call.Reference();
    EXPECT_TRUE(AllWithin(BoundFor(dtype(), 20), expected[0]));
    if (part == 2) {
      EXPECT_TRUE(AllWithin(BoundFor(dtype(), 20), expected[1]));
    }
  }
}

TEST_P(ChannelNormSiluTest, TakesTheMemoryOfChannelsFirstAsItIs) {
  // [B,C,F,H,W] in memory, seen as [B,F,H,W,C].
  Case plain({.front = 0, .back = 0}, dtype(), {1, 2, 2, 3, 8});
  HostTensor first(dtype(), {1, 8, 2, 2, 3});
  first.SetAll([&](int64_t i) { return plain.x.Get(i % 12 * 8 + i / 12); });
  ForcedRun run("channel_norm_silu", GetParam());
  ChannelNormSiluArgs args = plain.Args(run);
  TensorView view = run.Use(first);
  view.sizes = {1, 2, 2, 3, 8};
  view.strides = {96, 6, 3, 1, 12};
  args.x = view;
  const absl::Status status = ChannelNormSilu(args, run.execution());
  if (!TakesEverything(GetParam())) return;
  ASSERT_TRUE(status.ok()) << status;
  run.Fetch();
  EXPECT_TRUE(AllWithin(BoundFor(dtype(), 19), plain.Reference()[0]));
}

TEST_P(ChannelNormSiluTest, TakesEmptyTensors) {
  Case call({.front = 0, .back = 0}, dtype(), {1, 0, 2, 2, 8});
  Right(call);
}

class ChannelNormSiluRefusals : public RefusalTest {
 protected:
  ChannelNormSiluRefusals() : RefusalTest("channel_norm_silu") {}
  void Refused(const std::function<void(ChannelNormSiluArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    ChannelNormSiluArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return ChannelNormSilu(args, run.execution()); }, call.out, code, text);
  }
  Case call{{}, Dtype::kBf16, {1, 2, 2, 2, 8}};
};

TEST_F(ChannelNormSiluRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.pad_back = 0; }, kInvalid, "expected [1, 3, 2, 2, 8]");
  Refused([](auto& args) { args.pad_front = -1; }, kInvalid, "must not be negative");
  Refused([](auto& args) { args.shift.reset(); }, kInvalid, "both be given or neither");
  Refused([](auto& args) { args.scale->dtype = Dtype::kF16; }, kInvalid, "scale is fp16");
  Refused([](auto& args) { args.scale = Slice(*args.scale, 1, 0, 4); }, kInvalid, "[1, 8]");
  Refused([](auto& args) { args.eps = NAN; }, kInvalid, "eps");
  Refused([](auto& args) { args.x = Slice(args.out, 1, 0, 2); }, kInvalid, "overlaps");
  Refused([](auto& args) { args.x.dtype = Dtype::kF64; }, kUnimplemented, "x is fp64");
  Refused([](auto& args) { args.residual = Slice(args.x, 1, 0, 1); }, kInvalid, "residual");
  Refused([](auto& args) { args.bias = Slice(args.x, 4, 0, 4); }, kInvalid, "bias");
  Refused([](auto& args) { args.sum = args.x; }, kInvalid, "overlaps");
}

}  // namespace
}  // namespace reel::kernels
