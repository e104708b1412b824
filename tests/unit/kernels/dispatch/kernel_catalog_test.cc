// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/kernel_catalog.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/kernel_profiles.h"

namespace reel::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Params {};
void Nothing(const Params&) {}
int32_t LaunchNothing(const Params&, void*) { return 0; }
bool TakesAll(const Params&) { return true; }

constexpr KernelVariant kCuda[] = {Sm90Variant<LaunchNothing, TakesAll>()};
constexpr KernelVariant kCpu[] = {CpuVariant<Nothing>("cpu")};
constexpr KernelVariant kLoops[] = {CpuVariant<Nothing>("loops")};

class KernelCatalogTest : public testing::Test {
 protected:
  void SetUp() override {
    catalog.AddVariants(MakeVariants<Params>("b", kCuda), "built-in");
    catalog.AddVariants(MakeVariants<Params>("a", kCpu), "built-in");
    catalog.AddVariants(MakeVariants<Params>("b", kLoops), "built-in");
  }
  KernelCatalog catalog;
};

TEST_F(KernelCatalogTest, ListsOperatorsByNameWithTheVariantsInTheOrderOfTheirAddition) {
  ASSERT_EQ(catalog.List().size(), 2U);
  EXPECT_EQ(catalog.List()[0].op, "a");
  EXPECT_THAT(catalog.VariantNames("b"), ElementsAre("sm90", "loops"));
  EXPECT_TRUE(catalog.VariantNames("c").empty());
}

TEST_F(KernelCatalogTest, RefusesAVariantThatDoesNotComputeInTheTypeOfACall) {
  constexpr KernelVariant kHalf[] = {CpuVariant<Nothing>("half", kSixteenBit)};
  catalog.AddVariants(MakeVariants<Params>("b", kHalf), "built-in");
  const OpListing& b = catalog.List()[1];
  EXPECT_THAT(b.variants[1].dtypes, ElementsAre("fp32", "bf16", "fp16"));
  EXPECT_THAT(b.variants[2].dtypes, ElementsAre("bf16", "fp16"));
  const auto plan = [&](const std::string& variant, const std::string& op) {
    return MakePlan(catalog.List(), "auto", {{"b", variant}}, {{op, "fp32", 8}}).status();
  };
  EXPECT_TRUE(plan("loops", "b").ok());
  EXPECT_TRUE(plan("half", "a").ok());  // the model does not call it
  EXPECT_EQ(plan("half", "b").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(plan("half", "b").message()), HasSubstr("fp32"));
  EXPECT_THAT(std::string(plan("half", "b").message()), testing::EndsWith("these can: loops"));
}

TEST_F(KernelCatalogTest, MarksTheFirstThatRunsAsAuto) {
  const OpListing& b = catalog.List()[1];
  EXPECT_FALSE(b.variants[0].is_auto);
  EXPECT_TRUE(b.variants[1].is_auto);
}

TEST_F(KernelCatalogTest, MakesAPlanThatIsNamedByItsChoices) {
  EXPECT_EQ(catalog.Plan("", {})->name(), "auto");
  const auto plan = catalog.Plan("batch_invariant", {{"b", "loops"}, {"a", "cpu"}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->name(), "batch_invariant+a=cpu+b=loops");
  EXPECT_EQ(plan->Choice("b"), "loops");
  EXPECT_EQ(plan->Choice("c"), "");
}

TEST_F(KernelCatalogTest, NamesWhatIsLegalWhenItRefuses) {
  const auto message = [&](const auto& profile, const auto& variants, absl::StatusCode code) {
    const absl::Status status = catalog.Plan(profile, variants).status();
    EXPECT_EQ(status.code(), code);
    return std::string(status.message());
  };
  const std::map<std::string, std::string> none;
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(message("fast", none, kInvalid), HasSubstr("auto, reference, batch_invariant"));
  EXPECT_THAT(message("", std::map<std::string, std::string>{{"c", "cpu"}}, kInvalid),
              HasSubstr("known: a, b"));
  EXPECT_THAT(message("", std::map<std::string, std::string>{{"b", "cpu"}}, kInvalid),
              HasSubstr("it has: sm90, loops"));
  EXPECT_THAT(message("", std::map<std::string, std::string>{{"b", "sm90"}},
                      absl::StatusCode::kFailedPrecondition),
              HasSubstr("it needs a CUDA device; these can: loops"));
}

// As the catalog of a GPU has it, where `runs` says whether the device multiplies e4m3.
std::vector<OpListing> WithE4m3Rows(bool runs) {
  const std::string reason = runs ? "" : "it runs on sm_89 and later, this device is sm_80";
  return {{"linear",
           {{"aten", "framework", true, true, ""},
            {"e4m3_rows", "framework", runs, false, reason, {}, true}}}};
}

TEST(KernelProfiles, ALossyOneIsRefusedWhereItsVariantDoesNotRun) {
  EXPECT_TRUE(MakePlan(WithE4m3Rows(true), "fp8", {}).ok());
  const absl::Status old = MakePlan(WithE4m3Rows(false), "fp8", {}).status();
  EXPECT_EQ(old.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(old.message()), HasSubstr("this device is sm_80"));
  const absl::Status none = KernelCatalog(BuiltInCatalog()).Plan("fp8", {}).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.message()), HasSubstr("this build does not have it"));
  // No process has told its operators yet.
  EXPECT_TRUE(MakePlan({}, "fp8", {}).ok());
}

TEST(KernelProfiles, HaveAPlanWithoutLossThatKeepsTheOtherChoices) {
  const KernelPlan plan("int8_all", {{"rms_norm", "generic"}, {"attention", "sm90_e4m3"}});
  EXPECT_EQ(plan.WithoutLoss().name(), "auto+rms_norm=generic");
  EXPECT_EQ(KernelPlan("int8", {}).WithoutLoss().name(), "auto");
  EXPECT_EQ(KernelPlan("routed", {{"rms_norm", "generic"}}).WithoutRouting().name(),
            "fp8_all+rms_norm=generic");
}

TEST(KernelProfiles, TellWhichAreLossy) {
  EXPECT_THAT(BuiltInProfiles(),
              ElementsAre("auto", "reference", "batch_invariant", "int8", "int8_all", "fp8",
                          "fp8_attention", "fp8_all", "routed", "cache"));
  for (const std::string& profile : BuiltInProfiles()) {
    const auto starts = [&](const char* with) { return profile.rfind(with, 0) == 0; };
    const bool is_routed = profile == "routed", is_all = profile == "fp8_all" || is_routed;
    EXPECT_EQ(IsLossyProfile(profile),
              starts("fp8") || starts("int8") || is_routed || profile == "cache")
        << profile;
    EXPECT_EQ(HasE4m3Layers(profile), profile == "fp8" || is_all) << profile;
    EXPECT_EQ(HasInt8Layers(profile), starts("int8")) << profile;
    EXPECT_EQ(HasE4m3Attention(profile), profile == "fp8_attention" || is_all) << profile;
    EXPECT_EQ(HasInt8Attention(profile), profile == "int8_all") << profile;
    EXPECT_EQ(HasRoutedAttention(profile), is_routed) << profile;
  }
  EXPECT_TRUE(IsLossyVariant("linear", "e4m3_rows"));
  EXPECT_TRUE(IsLossyVariant("linear", "e4m3_rows_tuned"));
  EXPECT_TRUE(IsLossyVariant("linear_gelu", "e4m3"));
  EXPECT_FALSE(IsLossyVariant("linear_gelu", "tuned"));
  EXPECT_TRUE(IsLossyVariant("step_cache", "first_block"));
  EXPECT_FALSE(IsLossyVariant("linear", "aten"));
  EXPECT_FALSE(IsLossyVariant("attention", "e4m3_rows"));
  EXPECT_TRUE(IsLossyVariant("attention", "sm90_e4m3"));
  EXPECT_TRUE(IsLossyVariant("attention", "sm90_int8"));
  EXPECT_TRUE(IsLossyVariant("attention", "sm90_routed"));
  EXPECT_FALSE(IsLossyVariant("rms_norm", "sm90_e4m3"));
}

TEST_F(KernelCatalogTest, NeverMarksALossyVariantAsAuto) {
  static constexpr KernelVariant kLossyFirst[] = {CpuVariant<Nothing>("e4m3_rows"),
                                                  CpuVariant<Nothing>("cpu")};
  catalog.AddVariants(MakeVariants<Params>("linear", kLossyFirst), "built-in");
  const OpListing& linear = catalog.List()[2];
  EXPECT_TRUE(linear.variants[0].is_lossy);
  EXPECT_FALSE(linear.variants[0].is_auto);
  EXPECT_TRUE(linear.variants[1].is_auto);
}

TEST(BuiltInCatalog, HasOneNameForEveryVariantAndLoopsForEveryOperator) {
  const KernelCatalog catalog = BuiltInCatalog();
  ASSERT_FALSE(catalog.List().empty());
  for (const OpListing& op : catalog.List()) {
    std::set<std::string> names;
    for (const VariantListing& variant : op.variants) {
      EXPECT_TRUE(names.insert(variant.name).second) << op.op << " " << variant.name;
      EXPECT_TRUE(variant.runs) << op.op << " " << variant.name << ": " << variant.reason;
      EXPECT_EQ(variant.origin, "built-in");
    }
    EXPECT_EQ(op.variants.back().name, "loops") << op.op;
  }
}

TEST(BuiltInCatalog, SaysThatCpuVariantsDoNotRunOnADevice) {
  const KernelCatalog catalog = BuiltInCatalog({.device = 0, .sm = 90});
  for (const OpListing& op : catalog.List()) {
    for (const VariantListing& variant : op.variants) EXPECT_FALSE(variant.runs) << op.op;
  }
}

}  // namespace
}  // namespace reel::kernels
