// SPDX-License-Identifier: Apache-2.0
// Operators that write 8-bit rows for a linear layer, and the product of such rows.
#include "model/bridge/row_ops.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

constexpr int64_t kRowBatch = 2, kRowTokens = 7, kRowWidth = 48, kOutputs = 64;

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble);
  return ((actual.to(at::kDouble) - wide).norm() / wide.norm()).item<double>();
}

// What codes and scales stand for.
at::Tensor ValuesOf(const Rows& rows) {
  return rows.values.to(at::kDouble) * rows.scale.to(at::kDouble).unsqueeze(-1);
}

class RowOpsTest : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    device_ = *TorchDeviceOf(DeviceUnderTest()->stream);
    x_ = Values({kRowBatch, kRowTokens, kRowWidth});
    matrix_ = Values({kOutputs, kRowWidth});
    offset_ = Values({kOutputs});
  }

  at::Tensor Values(at::IntArrayRef shape) {
    return at::randn(shape, generator_, at::TensorOptions(at::kFloat)).to(device_, GetParam());
  }

  // With `variant` of linear, or what "auto" takes.
  template <typename Body>
  auto With(const std::string& variant, Body body) {
    std::map<std::string, std::string> choices;
    if (!variant.empty()) choices["linear"] = variant;
    const auto plan = DeviceUnderTest()->catalog.Plan("auto", choices);
    EXPECT_TRUE(plan.ok()) << plan.status();
    counters_ = {};
    const kernels::Execution run{*plan, counters_, nullptr, DeviceUnderTest()->stream};
    return body(Ops(run));
  }

  at::Tensor Product(const std::string& variant) {
    return With(variant, [&](const Ops& ops) {
      const Rows weight = InForm(ops, matrix_, RowForm::kE4m3);
      return ops.Linear(InForm(ops, x_, RowForm::kE4m3), {weight.values, weight.scale}, offset_,
                        GetParam());
    });
  }

  std::vector<std::string> Refusing(const std::function<void(const std::string&)>& call) {
    std::vector<std::string> names;
    for (const auto& op : DeviceUnderTest()->catalog.List()) {
      for (const auto& variant : op.variants) {
        if (op.op != "linear" || !variant.runs) continue;
        try {
          call(variant.name);
        } catch (const KernelError& refusal) {
          EXPECT_EQ(refusal.status().code(), absl::StatusCode::kFailedPrecondition);
          names.push_back(variant.name);
        }
      }
    }
    return names;
  }

  at::Generator generator_ = at::detail::createCPUGenerator(11);
  at::Device device_ = at::kCPU;
  at::Tensor x_, matrix_, offset_;
  kernels::KernelCounters counters_;
};

TEST_P(RowOpsTest, EveryVariantThatTakesE4m3MultipliesItAlike) {
  const Rows rows = With("", [&](const Ops& ops) { return InForm(ops, x_, RowForm::kE4m3); });
  const Rows weight =
      With("", [&](const Ops& ops) { return InForm(ops, matrix_, RowForm::kE4m3); });
  const at::Tensor expected = at::linear(ValuesOf(rows), ValuesOf(weight), offset_.to(at::kDouble));
  const auto refusing = Refusing([&](const std::string& variant) {
    const at::Tensor actual = Product(variant);
    EXPECT_EQ(actual.scalar_type(), GetParam()) << variant;
    // A device multiplies to bf16.
    const bool coarse = device_.is_cuda() || GetParam() != at::kFloat;
    EXPECT_LT(RelativeError(actual, expected), coarse ? 4e-3 : 1e-6) << variant;
  });
  EXPECT_THAT(refusing, ::testing::Contains(kAtenVariant));
  EXPECT_THAT(refusing, ::testing::Not(::testing::Contains(kE4m3RowsVariant)));
}

TEST_P(RowOpsTest, TheProductOfE4m3IsCountedAsTheLossyVariant) {
  Product("");
  std::set<std::string> ran;
  for (const auto& use : counters_.Uses()) ran.insert(use.op + "=" + use.variant);
  EXPECT_THAT(ran, ::testing::Contains("linear=" + std::string(kE4m3RowsVariant)));
}

TEST_P(RowOpsTest, PlainProductsAreNotForTheVariantOfEightBits) {
  const auto refusing = Refusing([&](const std::string& variant) {
    With(variant, [&](const Ops& ops) { return ops.Linear(x_, matrix_, offset_); });
  });
  EXPECT_THAT(refusing, ::testing::Contains(kE4m3RowsVariant));
  EXPECT_THAT(refusing, ::testing::Not(::testing::Contains(kAtenVariant)));
}

TEST_P(RowOpsTest, OperatorsInFrontOfALinearLayerWriteTheFormThatIsAskedFor) {
  const at::Tensor y = Values({kRowBatch, kRowTokens, kRowWidth});
  const at::Tensor scale = Values({kRowBatch, 1, kRowWidth}),
                   shift = Values({kRowBatch, 1, kRowWidth});
  const auto all = [&](RowForm form) {
    return With("", [&](const Ops& ops) {
      const auto [sum, normed] = SumAdalnRmsNorm(ops, x_, {{y}, {}}, {scale, shift, 1e-6}, form);
      EXPECT_LT(RelativeError(sum, x_ + y), 1e-6);
      return std::vector{AdalnRmsNorm(ops, x_, {scale, shift, 1e-6}, form), normed,
                         GeluTanh(ops, x_, form), InForm(ops, x_, form)};
    });
  };
  const std::vector<Rows> plain = all(RowForm::kPlain), e4m3 = all(RowForm::kE4m3);
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_FALSE(plain[i].scale.defined());
    EXPECT_EQ(e4m3[i].values.scalar_type(), at::kFloat8_e4m3fn);
    EXPECT_LT(RelativeError(ValuesOf(e4m3[i]), plain[i].values), 0.04) << i;
  }
}

// A part may be one row for all tokens, and x one row for the whole batch.
TEST_P(RowOpsTest, ASumOfPartsIsThatOfTheWhole) {
  const at::Tensor scale = Values({kRowBatch, 1, kRowWidth}),
                   shift = Values({kRowBatch, 1, kRowWidth}),
                   gate = Values({kRowBatch, 1, kRowWidth});
  const at::Tensor first = Values({1, 1, kRowWidth}).expand({1, kRowTokens, kRowWidth});
  const at::Tensor others = Values({kRowBatch - 1, kRowTokens, kRowWidth});
  const at::Tensor x = x_.slice(0, 0, 1).expand(x_.sizes());
  for (const RowForm form : {RowForm::kPlain, RowForm::kE4m3}) {
    for (const at::Tensor& by : {at::Tensor(), gate}) {
      const auto sum_of = [&](const std::vector<at::Tensor>& parts) {
        return With("", [&](const Ops& ops) {
          return SumAdalnRmsNorm(ops, x, {parts, by}, {scale, shift, 1e-6}, form);
        });
      };
      const SumAndRows parts = sum_of({first, others}), whole = sum_of({at::cat({first, others})});
      EXPECT_TRUE(parts.sum.equal(whole.sum));
      EXPECT_TRUE(parts.rows.values.view(at::kByte).equal(whole.rows.values.view(at::kByte)));
      EXPECT_EQ(parts.rows.scale.defined(), form == RowForm::kE4m3);
      if (form == RowForm::kPlain) continue;
      EXPECT_TRUE(parts.rows.scale.equal(whole.rows.scale));
    }
  }
}

TEST_P(RowOpsTest, ASumMayHaveOneScaleForAllRows) {
  const at::Tensor y = Values({kRowBatch, kRowTokens, kRowWidth});
  const at::Tensor scale = Values({kRowBatch, 1, kRowWidth}),
                   shift = Values({kRowBatch, 1, kRowWidth});
  const auto sum_of = [&](RowForm form) {
    return With("", [&](const Ops& ops) {
      return SumAdalnRmsNorm(ops, x_, {{y}, {}}, {scale, shift, 1e-6}, form);
    });
  };
  const SumAndRows fixed = sum_of(RowForm::kE4m3Gelu), plain = sum_of(RowForm::kPlain);
  EXPECT_TRUE(fixed.sum.equal(plain.sum));
  EXPECT_FALSE(fixed.rows.scale.defined());
  EXPECT_LT(RelativeError(fixed.rows.values.to(at::kDouble) * kE4m3GeluXScale, plain.rows.values),
            0.04);
}

TEST_P(RowOpsTest, OnlyProfilesWithLayersIn8BitsAskForCodes) {
  for (const std::string& profile : kernels::BuiltInProfiles()) {
    const kernels::KernelPlan plan(profile, {});
    const kernels::Execution run{plan, counters_, nullptr, {}};
    RowForm form = RowForm::kPlain;
    if (profile == "fp8" || profile == "fp8_all" || profile == "routed") form = RowForm::kE4m3;
    if (profile == "int8" || profile == "int8_all") form = RowForm::kInt8;
    EXPECT_EQ(FormOf(run), form) << profile;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RowOpsTest, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& type) { return at::toString(type.param); });

}  // namespace
}  // namespace reel::model
