// SPDX-License-Identifier: Apache-2.0
#include "model/layers/feed_forward.h"

#include <cstdio>
#include <tuple>

#include "model/bridge/row_ops.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

constexpr int64_t kWidth = 128;
constexpr double kMostError = 0.07;  // of two layers in e4m3, without a residual stream beside them

class FeedForwardTest : public DeviceTest {
 protected:
  at::Tensor Values(at::IntArrayRef sizes) {
    return at::randn(sizes, generator_, at::TensorOptions(at::kFloat)).to(device_, at::kBFloat16);
  }
  FeedForward Drawn(bool has_bias) {
    FeedForward layers;
    layers.expand.weight = Values({4 * kWidth, kWidth}) / 11;
    layers.contract.weight = Values({kWidth, 4 * kWidth}) / 22;
    if (!has_bias) return layers;
    layers.expand.bias = Values({4 * kWidth}) / 10;
    layers.contract.bias = Values({kWidth}) / 10;
    return layers;
  }

  // Of the norm of `x`, written in `form`. Undefined if the device lacks the profile.
  at::Tensor Run(const FeedForward& layers, const at::Tensor& x, const char* profile,
                 RowForm* form) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    if (!plan.ok()) return {};
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
    const Ops ops(run);
    *form = layers.expand.FormIn(ops);
    const at::Tensor none = at::zeros({x.size(0), 1, kWidth}, x.options());
    return layers(ops, AdalnRmsNorm(ops, x, {none, none, 1e-6}, *form));
  }

  at::Generator generator_ = at::detail::createCPUGenerator(5);
};

TEST_F(FeedForwardTest, TakesRowsInTheFormThatItHasCodesFor) {
  for (const bool has_bias : {true, false}) {
    FeedForward layers = Drawn(has_bias);
    const at::Tensor x = Values({2, 9, kWidth});
    RowForm form = RowForm::kInt8;
    const at::Tensor plain = Run(layers, x, "auto", &form);
    EXPECT_EQ(form, RowForm::kPlain);
    for (const auto& [profile, made, taken] :
         {std::tuple("int8", RowForm::kInt8, RowForm::kInt8),
          std::tuple("fp8", RowForm::kE4m3, has_bias ? RowForm::kE4m3Gelu : RowForm::kE4m3)}) {
      at::Tensor coded = Run(layers, x, profile, &form);
      if (!coded.defined()) continue;  // not of this device
      EXPECT_EQ(form, RowForm::kPlain) << profile << ": it has no codes yet";
      EXPECT_TRUE(coded.equal(plain)) << profile;
      layers.MakeLayersIn(made);
      coded = Run(layers, x, profile, &form);
      EXPECT_EQ(form, taken) << profile;
      const double error = DistanceOf(coded, plain);
      std::printf("%s, %s bias: %.4f\n", profile, has_bias ? "with" : "without", error);
      EXPECT_GT(error, 0) << profile;
      EXPECT_LT(error, kMostError) << profile;
    }
    EXPECT_TRUE(Run(layers, x, "auto", &form).equal(plain));
    EXPECT_EQ(form, RowForm::kPlain);
  }
}

}  // namespace
}  // namespace reel::model
