// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/front/config/config_checks.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

CheckedConfig CheckExperiments(const std::string& text) {
  return CheckText(
      "models { name: 'm' path: '/m' } kernel_profiles { name: 'mine' } "
      "kernel_profiles { name: 'lossy' base: 'fp8' }" +
      text);
}

constexpr char kGood[] =
    "experiments { name: 'e' model: 'm' share: 0.1 arms { name: 'a' profile: 'auto' weight: 3 } "
    "arms { name: 'b' profile: 'mine' } }";

TEST(ExperimentChecks, SharesAreAtMostAll) {
  const CheckedConfig result = CheckExperiments(kGood);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
  const std::string good = kGood;
  const std::string open = good.substr(0, good.size() - 1);
  EXPECT_THAT(CheckExperiments(open + "shadow_share: 0.25 }").problems, IsEmpty());
  EXPECT_THAT(CheckExperiments(open + "shadow_share: 1.5 }").problems,
              ElementsAre(HasSubstr("experiments[0].shadow_share: must be 0 to 1: 1.5")));
}

TEST(ExperimentChecks, NamesEveryProblemWithItsKey) {
  EXPECT_THAT(
      CheckExperiments(
          "experiments { name: 'E!' model: 'n' share: 1.5 arms { name: 'a' profile: 'auto' } "
          "arms { name: 'a' profile: 'mime' weight: -1 } }")
          .problems,
      UnorderedElementsAre(HasSubstr("experiments[0].name: must be 1..63"),
                           HasSubstr("experiments[0].model: must be one of m: 'n'"),
                           HasSubstr("experiments[0].share: must be 0 to 1: 1.5"),
                           HasSubstr("experiments[0].arms[1].name: is listed twice: 'a'"),
                           HasSubstr("'mime'; the nearest is 'mine'"),
                           HasSubstr("experiments[0].arms[1].weight: must be 0 to")));
}

TEST(ExperimentChecks, WantsTwoArmsThatDiffer) {
  EXPECT_THAT(
      CheckExperiments("experiments { name: 'e' arms { name: 'a' profile: 'auto' } }").problems,
      ElementsAre("experiments[0].arms: must be 2: 1"));
  EXPECT_THAT(CheckExperiments("experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
                               "arms { name: 'b' profile: 'auto' } }")
                  .problems,
              ElementsAre(HasSubstr("experiments[0].arms: both have the same profile")));
  EXPECT_THAT(CheckExperiments(std::string(kGood) + kGood).problems,
              ElementsAre("experiments[1].name: is listed twice: 'e'"));
}

TEST(ExperimentChecks, WarnsOfALossyArmAndBoundsTheirNumber) {
  const CheckedConfig lossy = CheckExperiments(
      "experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
      "arms { name: 'b' profile: 'lossy' } }");
  EXPECT_THAT(lossy.problems, IsEmpty());
  EXPECT_THAT(lossy.warnings, ElementsAre(HasSubstr("experiments[0].arms[1].profile: lossy is")));
  std::string many;
  for (int i = 0; i < 17; ++i) many += kGood;
  EXPECT_THAT(CheckExperiments(many).problems, ElementsAre("experiments: must be at most 16: 17"));
}

TEST(PluginChecks, ARootAloneIsLegal) {
  EXPECT_THAT(CheckText("plugin_root: '/srv/plugins'").problems, IsEmpty());
}

TEST(PluginChecks, PluginsNeedAnAbsoluteRoot) {
  EXPECT_THAT(CheckText("plugins { name: 'a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugin_root: must be set")));
  EXPECT_THAT(CheckText("plugin_root: 'p' plugins { name: 'a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugin_root: must be an absolute path")));
}

TEST(PluginChecks, NamesAreTheirOwn) {
  const std::string root = "plugin_root: '/p' ";
  for (const char* name : {"built-in", "framework", "Mine", "", "a/b"}) {
    EXPECT_THAT(
        CheckText(absl::StrCat(root, "plugins { name: '", name, "' folder: 'a' }")).problems,
        ElementsAre(StartsWith("plugins[0].name:")))
        << name;
  }
  const std::string longest(31, 'a');
  EXPECT_THAT(CheckText(root + "plugins { name: '" + longest + "' folder: 'a' }").problems,
              IsEmpty());
  EXPECT_THAT(CheckText(root + "plugins { name: '" + longest + "a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugins[0].name:")));
  EXPECT_THAT(
      CheckText(root + "plugins { name: 'a' folder: 'a' } plugins { name: 'a' folder: 'b' }")
          .problems,
      ElementsAre(StartsWith("plugins[1].name: is listed twice")));
}

TEST(PluginChecks, FoldersStayBelowTheRoot) {
  for (const char* folder : {"", "/etc", "../x", "a/../../x", "a/.."}) {
    EXPECT_THAT(
        CheckText(absl::StrCat("plugin_root: '/p' plugins { name: 'a' folder: '", folder, "' }"))
            .problems,
        ElementsAre(StartsWith("plugins[0].folder:")))
        << folder;
  }
}

TEST(PluginChecks, AHashIsWholeAndLowerCase) {
  const auto problems = [](const std::string& hash) {
    return CheckText("plugin_root: '/p' plugins { name: 'a' folder: 'a' sha256: '" + hash + "' }")
        .problems;
  };
  EXPECT_THAT(problems(std::string(64, 'a')), IsEmpty());
  EXPECT_THAT(problems("ab"), ElementsAre(StartsWith("plugins[0].sha256:")));
}

TEST(PluginChecks, TheirNumberIsBounded) {
  std::string text = "plugin_root: '/p' ";
  for (int i = 0; i < 17; ++i) {
    absl::StrAppend(&text, "plugins { name: 'p", i, "' folder: 'a' } ");
  }
  EXPECT_THAT(CheckText(text).problems, ElementsAre("plugins: must be at most 16: 17"));
}

}  // namespace
}  // namespace reel::front
