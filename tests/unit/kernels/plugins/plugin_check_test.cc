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

// A built-in row in the clothes of a plug-in's; `spoil` may change what it computed.
class WrappedRow final : public PluginRow {
 public:
  using Spoil = void (*)(const void* params);
  WrappedRow(const OpRows& rows, const KernelRow& row, Spoil spoil = nullptr)
      : facts_{.op = rows.op,
               .variant = "wrapped",
               .origin = "test",
               .min_sm = 0,
               .max_sm = 0,
               .dtypes = kAnyFloating,
               .params_size = rows.params_size},
        row_(row),
        spoil_(spoil) {}
  const PluginRowFacts& facts() const override { return facts_; }
  bool Accepts(const void* params) const override {
    return row_.accepts == nullptr || row_.accepts(params);
  }
  absl::Status Launch(const void* params, DeviceStream) const override {
    row_.launch(params, nullptr);
    if (spoil_ != nullptr) spoil_(params);
    return absl::OkStatus();
  }

 private:
  const PluginRowFacts facts_;
  const KernelRow row_;
  const Spoil spoil_;
};

OpRows RowsOfOp(const std::string& op) {
  for (const OpRows& rows : BuiltInCpuRows()) {
    if (op == rows.op) return rows;
  }
  return {};
}

PluginVerdict Check(const PluginRow& row) {
  HostCheckMemory memory;
  return CheckPluginRow(row, memory, {});
}

TEST(PluginCheck, EveryBuiltInRowPassesInEveryType) {
  int operators = 0;
  for (const OpRows& rows : BuiltInCpuRows()) {
    if (!TakesPlugins(rows.op)) continue;
    for (int32_t i = 0; i < rows.count; ++i) {
      const PluginVerdict verdict = Check(WrappedRow(rows, rows.rows[i]));
      EXPECT_EQ(verdict.dtypes, kAnyFloating) << rows.op << " " << rows.rows[i].variant;
      EXPECT_TRUE(verdict.failure.ok()) << rows.op << ": " << verdict.failure;
    }
    ++operators;
  }
  EXPECT_EQ(operators, 11);
  EXPECT_THAT(OpsThatTakePlugins(), HasSubstr("gate_residual_adaln"));
}

TEST(PluginCheck, OneElementThatIsOffIsFound) {
  const OpRows rows = RowsOfOp("rms_norm");
  const PluginVerdict verdict = Check(WrappedRow(rows, rows.rows[0], [](const void* params) {
    const auto& call = *static_cast<const RmsNormParams*>(params);
    if (call.out.dtype == Dtype::kF32) static_cast<float*>(call.out.data)[5] *= 1.001f;
  }));
  EXPECT_EQ(verdict.dtypes, kSixteenBit);
  EXPECT_THAT(std::string(verdict.failure.message()), HasSubstr("computes something else in fp32"));
}

TEST(PluginCheck, AnElementThatIsNotWrittenIsFound) {
  const OpRows rows = RowsOfOp("activation");
  const PluginVerdict verdict = Check(WrappedRow(rows, rows.rows[1], [](const void* params) {
    const auto& call = *static_cast<const ActivationParams*>(params);
    static_cast<uint16_t*>(call.out.data)[0] = 0xffff;
  }));
  EXPECT_EQ(verdict.dtypes & kSixteenBit, 0U);
}

TEST(PluginCheck, AnInputThatIsWrittenIsFound) {
  const OpRows rows = RowsOfOp("gated_activation");
  const PluginVerdict verdict = Check(WrappedRow(rows, rows.rows[1], [](const void* params) {
    const auto& call = *static_cast<const ActivationParams*>(params);
    static_cast<char*>(call.x.data)[1] ^= 0x40;
  }));
  EXPECT_EQ(verdict.dtypes, 0U);
}

}  // namespace
}  // namespace reel::kernels
