// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/experiment_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

CheckedOptions CheckExperiments(const std::string& text) {
  return CheckText(
      "models { name: 'm' path: '/m' } kernel_profiles { name: 'mine' } "
      "kernel_profiles { name: 'lossy' base: 'fp8' }" +
      text);
}

constexpr char kGood[] =
    "experiments { name: 'e' model: 'm' share: 0.1 arms { name: 'a' profile: 'auto' weight: 3 } "
    "arms { name: 'b' profile: 'mine' } }";

TEST(ReadExperiments, TakesShareAndWeights) {
  const CheckedOptions result = CheckExperiments(kGood);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.options.warnings, IsEmpty());
  ASSERT_EQ(result.options.experiments.size(), 1U);
  const ConfiguredExperiment& experiment = result.options.experiments[0];
  EXPECT_EQ(experiment.name, "e");
  EXPECT_EQ(experiment.model, "m");
  EXPECT_EQ(experiment.share, 0.1);
  ASSERT_EQ(experiment.arms.size(), 2U);
  EXPECT_EQ(experiment.arms[0].share, 0.75);
  EXPECT_EQ(experiment.arms[1].share, 0.25);
  EXPECT_EQ(experiment.arms[1].profile, "mine");
}

TEST(ReadExperiments, ShadowRendersAreOffUntilTheirShareIsGiven) {
  EXPECT_EQ(CheckExperiments(kGood).options.experiments[0].shadow_share, 0);
  const std::string good = kGood;
  const std::string open = good.substr(0, good.size() - 1);
  EXPECT_EQ(CheckExperiments(open + "shadow_share: 0.25 }").options.experiments[0].shadow_share,
            0.25);
  EXPECT_THAT(CheckExperiments(open + "shadow_share: 1.5 }").problems,
              ElementsAre(HasSubstr("experiments[0].shadow_share: must be 0 to 1: 1.5")));
}

TEST(ReadExperiments, NamesEveryProblemWithItsKey) {
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

TEST(ReadExperiments, WantsTwoArmsThatDiffer) {
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

TEST(ReadExperiments, WarnsOfALossyArmAndBoundsTheirNumber) {
  const CheckedOptions lossy = CheckExperiments(
      "experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
      "arms { name: 'b' profile: 'lossy' } }");
  EXPECT_THAT(lossy.problems, IsEmpty());
  EXPECT_THAT(lossy.options.warnings,
              ElementsAre(HasSubstr("experiments[0].arms[1].profile: lossy is")));
  std::string many;
  for (int i = 0; i < 17; ++i) many += kGood;
  EXPECT_THAT(CheckExperiments(many).problems, ElementsAre("experiments: must be at most 16: 17"));
}

}  // namespace
}  // namespace reel::front
