// SPDX-License-Identifier: Apache-2.0
#include "kernels/depth_to_space/depth_to_space.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

struct Form {
  bool bias = true;
  int64_t residual_channels = 0;  // of 8; 0: no residual
  bool drop_first = false;
};

// Sizes are those of x: B, F, H, W and an eighth of its channels.
struct Case : OpCase {
  Case(const Form& use, Dtype dtype, const std::vector<int64_t>& of,
       Layout layout = Layout::kContiguous)
      : form(use),
        sizes(of),
        x(dtype, {of[0], of[1], of[2], of[3], 8 * of[4]}, layout),
        bias(dtype, {8 * of[4]}),
        residual(dtype,
                 {of[0], of[1], of[2], of[3], 8 * std::max<int64_t>(use.residual_channels, 1)},
                 layout),
        out(dtype, {of[0], 2 * of[1] - (use.drop_first ? 1 : 0), 2 * of[2], 2 * of[3], of[4]},
            layout) {
    x.FillNormal(1);
    bias.FillNormal(2);
    residual.FillNormal(3);
  }
  DepthToSpaceArgs Args(ForcedRun& run) {
    DepthToSpaceArgs args{.x = run.Use(x), .out = run.Use(out), .drop_first = form.drop_first};
    if (form.bias) args.bias = run.Use(bias);
    if (form.residual_channels > 0) args.residual = run.Use(residual);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return DepthToSpace(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const TensorView view = out.view();
    std::vector<int64_t> at(5);
    for (int64_t i = 0; i < out.size(); ++i) {
      int64_t rest = i;
      for (int d = 4; d >= 0; --d) {
        at[d] = rest % view.size(d);
        rest /= view.size(d);
      }
      const int64_t frame = at[1] + (form.drop_first ? 1 : 0);
      const int64_t n = 8 * at[4] + frame % 2 * 4 + at[2] % 2 * 2 + at[3] % 2;
      const int64_t pixel =
          ((at[0] * sizes[1] + frame / 2) * sizes[2] + at[2] / 2) * sizes[3] + at[3] / 2;
      const int64_t width = residual.view().size(4);
      const double parts[3] = {
          x.Get(pixel * 8 * sizes[4] + n), form.bias ? bias.Get(n) : 0,
          form.residual_channels > 0 ? residual.Get(pixel * width + n % width) : 0};
      expected.Add(parts[0] + parts[1] + parts[2],
                   std::abs(parts[0]) + std::abs(parts[1]) + std::abs(parts[2]));
    }
    return {expected};
  }

  Form form;
  std::vector<int64_t> sizes;
  HostTensor x, bias, residual, out;
};

class DepthToSpaceTest : public OpTest {
 protected:
  DepthToSpaceTest() : OpTest("depth_to_space") {}
  bool Right(Case& call) { return Matches(call, BoundFor(dtype(), 8)); }
};
INSTANTIATE_TEST_SUITE_P(Rows, DepthToSpaceTest, testing::ValuesIn(VariantsOf("depth_to_space")),
                         NameOf);

TEST_P(DepthToSpaceTest, EqualsTheReferenceForEveryNumberOfChannelsAndFrames) {
  int ran = 0;
  for (const int64_t channels : {1, 4, 6, 64, 128}) {
    for (const int64_t frames : {1, 3}) {
      for (const bool drop_first : {false, true}) {
        SCOPED_TRACE(testing::Message() << channels << " " << frames << " " << drop_first);
        Case call({.drop_first = drop_first}, dtype(), {2, frames, 3, 5, channels});
        ran += Right(call) ? 1 : 0;
      }
    }
  }
  EXPECT_GE(ran, 16);
}

TEST_P(DepthToSpaceTest, RepeatsTheResidualAlongTheChannels) {
  int ran = 0;
  for (const int64_t channels : {1, 2, 4, 8}) {
    SCOPED_TRACE(channels);
    Case call({.residual_channels = channels, .drop_first = true}, dtype(), {2, 2, 3, 2, 8});
    ran += Right(call) ? 1 : 0;
  }
  EXPECT_GE(ran, 3);
}

TEST_P(DepthToSpaceTest, EqualsTheReferenceInEveryFormAndLayout) {
  const Form forms[] = {{}, {.bias = false}, {.residual_channels = 2}, {.drop_first = true}};
  for (const Form& form : forms) {
    for (const Layout layout : AllLayouts()) {
      SCOPED_TRACE(LayoutName(layout));
      Case call(form, dtype(), {1, 2, 2, 3, 4}, layout);
      Right(call);
    }
  }
}

TEST_P(DepthToSpaceTest, TakesEmptyTensors) {
  Case call({}, dtype(), {1, 0, 2, 2, 8});
  Right(call);
}

class DepthToSpaceRefusals : public RefusalTest {
 protected:
  DepthToSpaceRefusals() : RefusalTest("depth_to_space") {}
  void Refused(const std::function<void(DepthToSpaceArgs&)>& change, const std::string& text) {
    DepthToSpaceArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return DepthToSpace(args, run.execution()); }, call.out, kInvalid, text);
  }
  Case call{{.residual_channels = 2}, Dtype::kBf16, {1, 2, 2, 2, 4}};
};

TEST_F(DepthToSpaceRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.drop_first = true; }, "expected [1, 3, 4, 4, 4]");
  Refused([](auto& args) { args.x = Slice(args.x, 4, 0, 12); }, "multiple of 8");
  Refused([](auto& args) { args.bias = Slice(*args.bias, 0, 0, 8); }, "bias");
  Refused([](auto& args) { args.residual = Slice(*args.residual, 4, 0, 12); }, "divides");
  Refused([](auto& args) { args.residual = Slice(*args.residual, 1, 0, 1); }, "residual");
  Refused([](auto& args) { args.bias->dtype = Dtype::kF16; }, "dtypes");
  Refused([](auto& args) { args.x.data = args.out.data; }, "overlaps");
}

}  // namespace
}  // namespace reel::kernels
