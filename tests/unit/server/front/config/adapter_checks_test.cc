// SPDX-License-Identifier: Apache-2.0
// Adapters in a configuration: those that are registered, and those that models name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/front/config/config_checks.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> AdapterProblems(const std::string& text) {
  return CheckText(text).problems;
}

constexpr char kGrain[] =
    "adapter_root: '/loras' adapters { name: 'grain' file: 'style/grain.safetensors' ";

TEST(AdapterChecks, AModelNamesThoseThatAreRegistered) {
  EXPECT_THAT(AdapterProblems(absl::StrCat(
                  kGrain, "sha256: '", std::string(64, 'a'),
                  "' models: 'm' } adapters { name: 'other' file: 'o' } models { name: 'm' path: "
                  "'/m' adapters { name: 'grain' scale: -0.5 } adapters { name: 'other' } }")),
              IsEmpty());
  EXPECT_THAT(AdapterProblems("models { name: 'm' path: '/m' adapters { name: '../x' } }"),
              ElementsAre(AllOf(StartsWith("models[0].adapters[0].name:"), HasSubstr("'../x'"))));
}

TEST(AdapterChecks, ModelsHaveRoomForThoseOfRequestsInSteps) {
  const auto problems = [](const std::string& ranks) {
    return AdapterProblems(
        absl::StrCat("models { name: 'm' path: '/m' adapter_ranks: ", ranks, " }"));
  };
  for (const char* ranks : {"0", "32", "256"}) EXPECT_THAT(problems(ranks), IsEmpty()) << ranks;
  for (const char* ranks : {"-32", "33", "288"}) {
    EXPECT_THAT(problems(ranks), Not(IsEmpty())) << ranks;
  }
  EXPECT_THAT(AdapterProblems("models { name: 'm' test_card {} adapter_ranks: 32 }"),
              ElementsAre(AllOf(StartsWith("models[0].adapter_ranks:"), HasSubstr("test card"))));
}

TEST(AdapterChecks, TheRootIsAbsolute) {
  EXPECT_THAT(AdapterProblems("adapters { name: 'a' file: 'a' }"),
              ElementsAre(StartsWith("adapter_root: must be set")));
  EXPECT_THAT(AdapterProblems("adapter_root: 'loras'"),
              ElementsAre(StartsWith("adapter_root: must be an absolute path")));
}

TEST(AdapterChecks, EachFieldHasItsRule) {
  const auto problems = [](const std::string& fields) {
    return AdapterProblems(absl::StrCat(
        "adapter_root: '/l' models { name: 'm' path: '/m' } adapters { ", fields, " }"));
  };
  EXPECT_THAT(problems("name: 'a' file: '/etc/passwd'"),
              ElementsAre(StartsWith("adapters[0].file:")));
  EXPECT_THAT(problems("name: 'a'"), ElementsAre(StartsWith("adapters[0].file:")));
  EXPECT_THAT(problems("name: 'A b' file: 'f'"), ElementsAre(StartsWith("adapters[0].name:")));
  EXPECT_THAT(problems("name: 'a' file: 'f' sha256: 'no'"),
              ElementsAre(StartsWith("adapters[0].sha256:")));
  EXPECT_THAT(problems("name: 'a' file: 'f' models: 'other'"),
              ElementsAre(StartsWith("adapters[0].models:")));
  for (const char* scale : {"-1", "4.5", "nan", "inf"}) {
    EXPECT_THAT(problems(absl::StrCat("name: 'a' file: 'f' max_scale: ", scale)),
                ElementsAre(StartsWith("adapters[0].max_scale:")))
        << scale;
  }
}

TEST(AdapterChecks, TheScaleOfRequestsIsWithinTheBoundAndTheDescriptionShort) {
  const auto problems = [](const std::string& fields) {
    return AdapterProblems(
        absl::StrCat("adapter_root: '/l' models { name: 'm' path: '/m' } adapters { name: 'a' "
                     "file: 'f' max_scale: 1.5 ",
                     fields, " }"));
  };
  EXPECT_THAT(problems("default_scale: -1.5 description: 'grain of 16 mm'"), IsEmpty());
  EXPECT_THAT(problems("default_scale: 1.6"),
              ElementsAre(AllOf(StartsWith("adapters[0].default_scale:"), HasSubstr("1.5"))));
  EXPECT_THAT(problems("default_scale: nan"),
              ::testing::Contains(StartsWith("adapters[0].default_scale:")));
  EXPECT_THAT(problems("description: '" + std::string(201, 'a') + "'"),
              ElementsAre(AllOf(StartsWith("adapters[0].description:"), HasSubstr("200"))));
}

TEST(AdapterChecks, AModelKeepsToTheRegistration) {
  const auto problems = [](const std::string& adapters) {
    return AdapterProblems(absl::StrCat(kGrain,
                                        "max_scale: 2 models: 'm' } models { name: 'm' path: '/m' ",
                                        adapters, " } models { name: 'n' path: '/n' }"));
  };
  EXPECT_THAT(problems("adapters { name: 'grain' scale: 2 }"), IsEmpty());
  for (const char* scale : {"2.5", "-2.5"}) {
    EXPECT_THAT(
        problems(absl::StrCat("adapters { name: 'grain' scale: ", scale, " }")),
        ElementsAre(AllOf(StartsWith("models[0].adapters[0].scale:"), HasSubstr("-2 to 2"))))
        << scale;
  }
  for (const char* scale : {"nan", "1e308"}) {
    EXPECT_THAT(problems(absl::StrCat("adapters { name: 'grain' scale: ", scale, " }")),
                ::testing::Each(StartsWith("models[0].adapters[0].scale:")))
        << scale;
    EXPECT_FALSE(problems(absl::StrCat("adapters { name: 'grain' scale: ", scale, " }")).empty());
  }
  EXPECT_THAT(problems("adapters { name: 'grain' } adapters { name: 'grain' }"),
              ElementsAre(AllOf(StartsWith("models[0].adapters[1].name:"), HasSubstr("twice"))));
  EXPECT_THAT(AdapterProblems(absl::StrCat(kGrain,
                                           "models: 'm' } models { name: 'm' path: '/m' } models { "
                                           "name: 'n' path: '/n' adapters { name: 'grain' } }")),
              ElementsAre(AllOf(StartsWith("models[1].adapters[0].name:"), HasSubstr("not for"))));
}

TEST(AdapterChecks, AreBounded) {
  std::string many = "adapter_root: '/l' models { name: 'm' path: '/m' ";
  for (int i = 0; i < 9; ++i) absl::StrAppend(&many, "adapters { name: 'a", i, "' } ");
  many += "} ";
  for (int i = 0; i < 9; ++i) absl::StrAppend(&many, "adapters { name: 'a", i, "' file: 'f' } ");
  EXPECT_THAT(AdapterProblems(many),
              ElementsAre(AllOf(StartsWith("models[0].adapters:"), HasSubstr("8"))));
  std::string registered = "adapter_root: '/l' ";
  for (int i = 0; i < 1025; ++i) {
    absl::StrAppend(&registered, "adapters { name: 'a", i, "' file: 'f' } ");
  }
  EXPECT_THAT(AdapterProblems(registered),
              ElementsAre(AllOf(StartsWith("adapters:"), HasSubstr("1024"))));
}

}  // namespace
}  // namespace reel::front
