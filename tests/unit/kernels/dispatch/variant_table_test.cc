// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/variant_table.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

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
  table.Add({std::make_shared<FakePlugin>()});
  const CatalogVariant& plugin = table.Variants("op").back();
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

// A variant of a framework: takes the calls of models whose number is not negative, and is
// preferred for those below ten.
class FakeFramework : public HostedVariant {
 public:
  explicit FakeFramework(const std::string& name)
      : facts_{.op = "op",
               .variant = name,
               .origin = "framework",
               .min_sm = kCpuOnly,
               .max_sm = kAnyLaterSm,
               .dtypes = ~DtypeMask{0},
               .params_size = 0} {}
  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override { return *static_cast<const int*>(call) >= 0; }
  std::string Reason(const void*) const override {
    ++reasons_;
    return "it takes no negative calls";
  }
  int reasons() const { return reasons_; }
  bool Prefers(const void* call) const override { return *static_cast<const int*>(call) < 10; }
  absl::Status Launch(const void*, DeviceStream) const override { return absl::OkStatus(); }

 private:
  const HostedVariantFacts facts_;
  mutable int reasons_ = 0;  // how often it was asked why
};

class FrameworkVariantTest : public testing::Test {
 protected:
  void SetUp() override {
    table_.Add(MakeVariants<Params>("op", kVariants), "built-in", nullptr);
    table_.AddFirst({fast_, std::make_shared<FakeFramework>("aten")});
  }
  absl::StatusOr<std::string> Choose(VariantQuery query, const KernelPlan& plan = {}) const {
    query.op = "op";
    query.dtype = Dtype::kF32;
    const auto variant = ChooseVariant(table_.Variants("op"), query, plan);
    if (!variant.ok()) return variant.status();
    return std::string((*variant)->variant.name);
  }
  static KernelPlan Forced(const std::string& variant) {
    return KernelPlan("auto", {{"op", variant}});
  }

  const std::shared_ptr<const FakeFramework> fast_ = std::make_shared<FakeFramework>("fast");
  VariantTable table_{{}};
  const Params params_{8};
  const int liked_ = 1, taken_ = 10, declined_ = -1;
};

TEST_F(FrameworkVariantTest, StandBeforeTheOthersInTheirOwnOrder) {
  const auto variants = table_.Variants("op");
  ASSERT_EQ(variants.size(), 7U);
  EXPECT_STREQ(variants[0].variant.name, "fast");
  EXPECT_STREQ(variants[1].variant.name, "aten");
  EXPECT_TRUE(variants[0].is_framework());
  EXPECT_FALSE(variants[0].is_plugin());
}

TEST_F(FrameworkVariantTest, TakeTheCallsOfModelsAlone) {
  EXPECT_EQ(*Choose({.framework_call = &liked_}), "fast");
  EXPECT_EQ(*Choose({.params = &params_}), "cpu");
  const auto forced = Choose({.params = &params_}, Forced("fast"));
  EXPECT_EQ(forced.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(forced.status().message()), HasSubstr("it takes the calls of models"));
}

TEST_F(FrameworkVariantTest, RunByNameWhatAutoGivesToOthers) {
  EXPECT_EQ(*Choose({.framework_call = &taken_}), "cpu");
  EXPECT_EQ(*Choose({.framework_call = &taken_}, Forced("fast")), "fast");
  EXPECT_EQ(*Choose({.framework_call = &taken_}, KernelPlan("reference", {})), "aten");
}

TEST_F(FrameworkVariantTest, SayWhyTheyDeclineAndWhoCould) {
  const auto forced = Choose({.framework_call = &declined_}, Forced("fast"));
  EXPECT_EQ(forced.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(forced.status().message()),
              HasSubstr("op=fast, it takes no negative calls; these can: cpu, loops"));
}

TEST_F(FrameworkVariantTest, AreAskedWhyOnlyWhereNothingFits) {
  EXPECT_EQ(*Choose({.framework_call = &declined_}), "cpu");
  EXPECT_EQ(fast_->reasons(), 0);
  const VariantQuery nothing{.op = "op", .framework_call = &declined_, .device = {}};
  const auto none = ChooseVariant(table_.Variants("op").first(2), nothing, {});
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("fast: it takes no negative calls"));
  EXPECT_EQ(fast_->reasons(), 1);
}

TEST_F(FrameworkVariantTest, ComputeInBf16OnDevicesWithoutKernelsForItOnlyByName) {
  VariantQuery query{.framework_call = &liked_, .device = {.device = 0, .sm = 75}};
  query.op = "op";
  query.dtype = Dtype::kBf16;
  const auto candidates = table_.Variants("op");
  EXPECT_THAT(std::string(ChooseVariant(candidates, query, {}).status().message()),
              HasSubstr("use fp16"));
  EXPECT_TRUE(ChooseVariant(candidates, query, KernelPlan("reference", {})).ok());
}

TEST(VariantTable, GivesTheFrameworkBelowTunedVariantsWhatTheirTypesLeave) {
  constexpr DeviceCapability kAmpere = {.device = 0, .sm = 80};
  static constexpr KernelVariant kTunedForSixteenBits[] = {
      Sm80Variant<LaunchNothing, IsEven>(kSixteenBit), GenericCudaVariant<LaunchNothing>()};
  VariantTable table(kAmpere);
  table.Add(MakeVariants<Params>("op", kTunedForSixteenBits), "built-in", nullptr);
  table.AddBelowTuned(
      {std::make_shared<FakeFramework>("fast"), std::make_shared<FakeFramework>("aten")});
  std::vector<std::string> names;
  for (const auto& variant : table.Variants("op")) names.emplace_back(variant.variant.name);
  EXPECT_THAT(names, testing::ElementsAre("sm80", "fast", "aten", "generic"));
  const int call = 1;
  for (const auto& [dtype, runs] : {std::pair(Dtype::kBf16, "sm80"), {Dtype::kF32, "fast"}}) {
    const VariantQuery query{
        .op = "op", .dtype = dtype, .framework_call = &call, .device = kAmpere};
    const auto chosen = ChooseVariant(table.Variants("op"), query, {});
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    EXPECT_STREQ((*chosen)->variant.name, runs);
  }
}

TEST(VariantTable, HoldsTwoVariantsForTheSameDevicesSideBySide) {
  constexpr DeviceCapability kHopper = {.device = 0, .sm = 90};
  static constexpr KernelVariant kBoth[] = {
      Sm90Variant<LaunchNothing, IsEven>(kAnyFloating, "sm90_wide"),
      Sm90Variant<LaunchNothing, IsEven>()};
  VariantTable table(kHopper);
  table.Add(MakeVariants<Params>("op", kBoth), "built-in", nullptr);
  const Params params{8};
  const VariantQuery query{.op = "op", .dtype = Dtype::kBf16, .params = &params, .device = kHopper};
  for (const auto& [forced, runs] : {std::pair("", "sm90_wide"), {"sm90", "sm90"}}) {
    std::map<std::string, std::string, std::less<>> choices;
    if (*forced != '\0') choices["op"] = forced;
    const auto chosen = ChooseVariant(table.Variants("op"), query, KernelPlan("auto", choices));
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    EXPECT_STREQ((*chosen)->variant.name, runs);
  }
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
