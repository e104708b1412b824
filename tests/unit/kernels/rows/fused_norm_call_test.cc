// SPDX-License-Identifier: Apache-2.0
// The calls of a fused norm that a plug-in gets when a request names it.
#include "kernels/rows/fused_norm_call.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/host_tensor.h"

namespace reel::kernels {
namespace {

using ::testing::HasSubstr;

class CountingPlugin final : public HostedVariant {
 public:
  explicit CountingPlugin(const std::string& op)
      : facts_{.op = op,
               .variant = "mine",
               .origin = "mine",
               .dtypes = kAnyFloating,
               .params_size = sizeof(FusedNormParams)} {}
  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void*) const override { return true; }
  absl::Status Launch(const void*, DeviceStream) const override {
    ++launches;
    return absl::OkStatus();
  }

  mutable int launches = 0;

 private:
  const HostedVariantFacts facts_;
};

// Calls of one operator that a request wants of the plug-in.
class FusedNormOfAPlugin : public ::testing::TestWithParam<Dtype> {
 protected:
  Execution Asked(const std::string& op) {
    for (const OpVariants& variants : BuiltInCpuVariants()) {
      catalog_.AddVariants(variants, "built-in");
    }
    plugin_ = std::make_shared<CountingPlugin>(op);
    EXPECT_TRUE(catalog_.AddPlugin(plugin_).ok());
    const auto plan = catalog_.Plan("auto", {{op, "mine"}});
    EXPECT_TRUE(plan.ok()) << plan.status();
    plan_ = *plan;
    return {plan_, counters_, nullptr, {}};
  }
  int launches() const { return plugin_->launches; }

 private:
  KernelCatalog catalog_;
  std::shared_ptr<CountingPlugin> plugin_;
  KernelPlan plan_;
  KernelCounters counters_;
};
INSTANTIATE_TEST_SUITE_P(Types, FusedNormOfAPlugin,
                         ::testing::Values(Dtype::kF32, Dtype::kBf16, Dtype::kF16),
                         [](const auto& type) { return std::string(DtypeName(type.param)); });

TEST_P(FusedNormOfAPlugin, IsGivenASumWithoutANorm) {
  HostTensor x(GetParam(), {2, 3, 32}), y(GetParam(), {2, 3, 32}), out(GetParam(), {2, 3, 32});
  const absl::Status status = GateResidual({.x = x.view(), .residual = y.view(), .sum = out.view()},
                                           Asked("gate_residual"));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(launches(), 1);
}

TEST_P(FusedNormOfAPlugin, IsGivenANormInTheTypeOfItsRowsAndNoCodes) {
  HostTensor x(GetParam(), {2, 3, 32}), y(GetParam(), {2, 3, 32}), sum(GetParam(), {2, 3, 32});
  HostTensor scale(GetParam(), {2, 1, 32}), shift(GetParam(), {2, 1, 32});
  HostTensor plain(GetParam(), {2, 3, 32}), e4m3(Dtype::kE4m3, {2, 3, 32});
  HostTensor int8(Dtype::kI8, {2, 3, 32}), out_scale(Dtype::kF32, {2, 3});
  const Execution run = Asked("gate_residual_adaln");
  FusedArgs args = {.x = x.view(),
                    .residual = y.view(),
                    .scale = scale.view(),
                    .shift = shift.view(),
                    .sum = sum.view(),
                    .out = plain.view()};
  const absl::Status status = GateResidualAdaln(args, run);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(launches(), 1);
  args.out_scale = out_scale.view();
  for (HostTensor* codes : {&e4m3, &int8}) {
    args.out = codes->view();
    const absl::Status refused = GateResidualAdaln(args, run);
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("plug-ins do not take this form"));
  }
  EXPECT_EQ(launches(), 1);
}

TEST(FusedNorm, RefusesAnOperandTooManyOrTooFew) {
  HostTensor x(Dtype::kF32, {2, 3, 32}), out(Dtype::kF32, {2, 3, 32}), vector(Dtype::kF32, {32});
  const KernelPlan plan;
  KernelCounters counters;
  const Execution run = {.plan = plan, .counters = counters, .timer = nullptr, .stream = {}};
  const auto refused = [&](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("An operand is missing, or is not"));
  };
  refused(LayerNorm({.x = x.view()}, run));
  refused(LayerNorm({.x = x.view(), .scale = vector.view(), .out = out.view()}, run));
  refused(GateResidual({.x = x.view(), .sum = out.view()}, run));
  refused(AdalnLayerNorm({.x = x.view(), .gate = vector.view(), .out = out.view()}, run));
  EXPECT_TRUE(LayerNorm({.x = x.view(), .weight = vector.view(), .out = out.view()}, run).ok());
}

}  // namespace
}  // namespace reel::kernels
