// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/variant_table.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using testing::HasSubstr;

struct Params {
  int width;
};
void Nothing(const Params&) {}
bool IsEven(const Params& params) { return params.width % 2 == 0; }
int32_t LaunchNothing(const Params&, void*) { return 0; }

constexpr KernelVariant kVariants[] = {
    Sm90Variant<LaunchNothing, IsEven>(), Sm80Variant<LaunchNothing, IsEven>(),
    GenericCudaVariant<LaunchNothing>(),  CpuVariant<Nothing, IsEven>("cpu"),
    CpuVariant<Nothing>("loops"),
};

class ChooseVariantTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Choose(int sm, int width, const KernelPlan& plan = {},
                                     Dtype dtype = Dtype::kBf16) {
    const DeviceCapability device{.device = sm == 0 ? -1 : 0, .sm = sm};
    VariantTable table(device);
    table.Add(MakeVariants<Params>("op", kVariants), "built-in", nullptr);
    const Params params{width};
    auto variant =
        ChooseVariant(table.Variants("op", sizeof(Params)),
                      {.op = "op", .dtype = dtype, .params = &params, .device = device}, plan);
    if (!variant.ok()) return variant.status();
    return std::string((*variant)->variant.name);
  }
  static KernelPlan Forced(const std::string& variant) {
    return KernelPlan("auto", {{"op", variant}});
  }
};

TEST_F(ChooseVariantTest, TakesTheFirstThatFitsTheDeviceAndTheCall) {
  EXPECT_EQ(*Choose(90, 8), "sm90");
  EXPECT_EQ(*Choose(80, 8), "sm80");
  EXPECT_EQ(*Choose(89, 8), "sm80");
  EXPECT_EQ(*Choose(100, 8), "sm80");
  EXPECT_EQ(*Choose(90, 7), "generic");
  EXPECT_EQ(*Choose(75, 8, {}, Dtype::kF16), "generic");
  EXPECT_EQ(*Choose(0, 8), "cpu");
  EXPECT_EQ(*Choose(0, 7), "loops");
}

TEST_F(ChooseVariantTest, RefusesBf16BelowSm80ByName) {
  const auto chosen = Choose(75, 8);
  EXPECT_EQ(chosen.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("use fp16"));
}

TEST_F(ChooseVariantTest, TakesTheForcedVariantOrSaysWhichCouldRun) {
  EXPECT_EQ(*Choose(90, 8, Forced("generic")), "generic");
  const auto odd = Choose(90, 7, Forced("sm80"));
  EXPECT_EQ(odd.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(odd.status().message()), HasSubstr("these can: generic"));
  const auto older = Choose(80, 8, Forced("sm90"));
  EXPECT_THAT(std::string(older.status().message()), HasSubstr("this device is sm_80"));
  const auto cpu = Choose(90, 8, Forced("loops"));
  EXPECT_THAT(std::string(cpu.status().message()), HasSubstr("it runs on the CPU"));
  EXPECT_EQ(Choose(90, 8, Forced("sm70")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ChooseVariantTest, RunsTheFrameworksVariantsUnderReference) {
  const auto chosen = Choose(0, 8, KernelPlan("reference", {}));
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("op=aten"));
}

TEST(VariantTable, HidesVariantsThatWereBuiltForOtherParameters) {
  VariantTable table({});
  table.Add(MakeVariants<Params>("op", kVariants), "built-in", nullptr);
  EXPECT_EQ(table.Variants("op", sizeof(Params)).size(), 5U);
  EXPECT_TRUE(table.Variants("op", sizeof(Params) + 4).empty());
  EXPECT_TRUE(table.Variants("other", sizeof(Params)).empty());
}

class FakePlugin : public HostedVariant {
 public:
  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void*) const override { return true; }
  absl::Status Launch(const void*, DeviceStream) const override { return absl::OkStatus(); }

 private:
  HostedVariantFacts facts_{.op = "op",
                            .variant = "mine",
                            .origin = "mine",
                            .dtypes = MaskOf(Dtype::kF32),
                            .params_size = sizeof(Params)};
};

TEST(VariantTable, AsksNoPluginForAFormThatItWasNotComparedIn) {
  VariantTable table({});
  table.Add(MakeVariants<Params>("op", kVariants), "built-in", nullptr);
  const CatalogVariant& plugin = table.Add(std::make_shared<FakePlugin>());
  const Params params{8};
  VariantQuery query{.op = "op", .dtype = Dtype::kF32, .params = &params, .device = {}};
  EXPECT_EQ(WhyNot(plugin, query), "");
  query.for_plugins = false;
  EXPECT_THAT(WhyNot(plugin, query), HasSubstr("do not take this form"));
  EXPECT_EQ(ChooseVariant(table.Variants("op", sizeof(Params)), query,
                          KernelPlan("auto", {{"op", "mine"}}))
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(VariantTable, KeepsTheOrderOfItsSources) {
  VariantTable table({});
  table.Add(MakeVariants<Params>("op", kVariants), "plug-in", nullptr);
  table.Add(MakeVariants<Params>("op", kVariants), "built-in", nullptr);
  const auto variants = table.Variants("op", sizeof(Params));
  ASSERT_EQ(variants.size(), 10U);
  EXPECT_EQ(variants.front().origin, "plug-in");
  EXPECT_EQ(variants.back().origin, "built-in");
}

}  // namespace
}  // namespace reel::kernels
