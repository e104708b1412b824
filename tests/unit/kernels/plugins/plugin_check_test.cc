// SPDX-License-Identifier: Apache-2.0
// The test of plug-ins, tested: it takes what is right, over all operators, and finds what is not.
#include "kernels/plugins/plugin_check.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/activation/activation_launch.h"
#include "kernels/built_in_catalog.h"
#include "kernels/plugins/check_memory.h"
#include "kernels/rms_norm/rms_norm_launch.h"

namespace reel::kernels {
namespace {

using ::testing::HasSubstr;

// A built-in variant in the clothes of a plug-in's; `spoil` may change what it computed.
class WrappedVariant final : public HostedVariant {
 public:
  using Spoil = void (*)(const void* params);
  WrappedVariant(const OpVariants& op, const KernelVariant& variant, Spoil spoil = nullptr)
      : facts_{.op = op.op,
               .variant = "wrapped",
               .origin = "test",
               .min_sm = 0,
               .max_sm = 0,
               .dtypes = kAnyFloating,
               .params_size = op.params_size},
        variant_(variant),
        spoil_(spoil) {}
  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* params) const override {
    return variant_.accepts == nullptr || variant_.accepts(params);
  }
  absl::Status Launch(const void* params, DeviceStream) const override {
    variant_.launch(params, nullptr);
    if (spoil_ != nullptr) spoil_(params);
    return absl::OkStatus();
  }

 private:
  const HostedVariantFacts facts_;
  const KernelVariant variant_;
  const Spoil spoil_;
};

OpVariants CpuVariantsOf(const std::string& name) {
  for (const OpVariants& op : BuiltInCpuVariants()) {
    if (name == op.op) return op;
  }
  return {};
}

PluginVerdict Check(const HostedVariant& variant) {
  HostCheckMemory memory;
  return CheckPluginVariant(variant, memory, {});
}

TEST(PluginCheck, EveryBuiltInVariantPassesInEveryType) {
  int operators = 0;
  for (const OpVariants& op : BuiltInCpuVariants()) {
    if (!TakesPlugins(op.op)) continue;
    for (int32_t i = 0; i < op.count; ++i) {
      const PluginVerdict verdict = Check(WrappedVariant(op, op.variants[i]));
      EXPECT_EQ(verdict.dtypes, kAnyFloating) << op.op << " " << op.variants[i].name;
      EXPECT_TRUE(verdict.failure.ok()) << op.op << ": " << verdict.failure;
    }
    ++operators;
  }
  EXPECT_EQ(operators, 11);
  EXPECT_THAT(OpsThatTakePlugins(), HasSubstr("gate_residual_adaln"));
}

TEST(PluginCheck, OneElementThatIsOffIsFound) {
  const OpVariants op = CpuVariantsOf("rms_norm");
  const PluginVerdict verdict = Check(WrappedVariant(op, op.variants[0], [](const void* params) {
    const auto& call = *static_cast<const RmsNormParams*>(params);
    if (call.out.dtype == Dtype::kF32) static_cast<float*>(call.out.data)[5] *= 1.001f;
  }));
  EXPECT_EQ(verdict.dtypes, kSixteenBit);
  EXPECT_THAT(std::string(verdict.failure.message()), HasSubstr("computes something else in fp32"));
}

TEST(PluginCheck, AnElementThatIsNotWrittenIsFound) {
  const OpVariants op = CpuVariantsOf("activation");
  const PluginVerdict verdict = Check(WrappedVariant(op, op.variants[1], [](const void* params) {
    const auto& call = *static_cast<const ActivationParams*>(params);
    static_cast<uint16_t*>(call.out.data)[0] = 0xffff;
  }));
  EXPECT_EQ(verdict.dtypes & kSixteenBit, 0U);
}

TEST(PluginCheck, AnInputThatIsWrittenIsFound) {
  const OpVariants op = CpuVariantsOf("gated_activation");
  const PluginVerdict verdict = Check(WrappedVariant(op, op.variants[1], [](const void* params) {
    const auto& call = *static_cast<const ActivationParams*>(params);
    static_cast<char*>(call.x.data)[1] ^= 0x40;
  }));
  EXPECT_EQ(verdict.dtypes, 0U);
}

}  // namespace
}  // namespace reel::kernels
