// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/experiment_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_text.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ReadResult {
  std::vector<ConfiguredExperiment> experiments;
  std::vector<std::string> problems, warnings;
};

ReadResult ReadText(const std::string& text) {
  config::v1::ServerConfig config;
  ReadResult result;
  EXPECT_THAT(ParseConfigText("models { name: 'm' } kernel_profiles { name: 'mine' base: 'auto' } "
                              "kernel_profiles { name: 'lossy' base: 'fp8' }" +
                                  text,
                              config),
              IsEmpty());
  OptionReader reader(result.problems);
  result.experiments = ReadExperiments(config, reader, result.warnings);
  return result;
}

constexpr char kGood[] =
    "experiments { name: 'e' model: 'm' share: 0.1 arms { name: 'a' profile: 'auto' weight: 3 } "
    "arms { name: 'b' profile: 'mine' } }";

TEST(ReadExperiments, TakesShareAndWeights) {
  const ReadResult result = ReadText(kGood);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
  ASSERT_EQ(result.experiments.size(), 1U);
  const ConfiguredExperiment& experiment = result.experiments[0];
  EXPECT_EQ(experiment.name, "e");
  EXPECT_EQ(experiment.model, "m");
  EXPECT_EQ(experiment.share, 0.1);
  ASSERT_EQ(experiment.arms.size(), 2U);
  EXPECT_EQ(experiment.arms[0].share, 0.75);
  EXPECT_EQ(experiment.arms[1].share, 0.25);
  EXPECT_EQ(experiment.arms[1].profile, "mine");
}

TEST(ReadExperiments, ShadowRendersAreOffUntilTheirShareIsGiven) {
  EXPECT_EQ(ReadText(kGood).experiments[0].shadow_share, 0);
  const std::string good = kGood;
  const std::string open = good.substr(0, good.size() - 1);
  EXPECT_EQ(ReadText(open + "shadow_share: 0.25 }").experiments[0].shadow_share, 0.25);
  EXPECT_THAT(ReadText(open + "shadow_share: 1.5 }").problems,
              ElementsAre(HasSubstr("experiments[0].shadow_share: must be 0 to 1: 1.5")));
}

TEST(ReadExperiments, NamesEveryProblemWithItsKey) {
  EXPECT_THAT(
      ReadText("experiments { name: 'E!' model: 'n' share: 1.5 arms { name: 'a' profile: 'auto' } "
               "arms { name: 'a' profile: 'mime' weight: -1 } }")
          .problems,
      ElementsAre(HasSubstr("experiments[0].name: must be 1..63"),
                  HasSubstr("experiments[0].model: must be one of m: 'n'"),
                  HasSubstr("experiments[0].share: must be 0 to 1: 1.5"),
                  HasSubstr("experiments[0].arms[1].name: is listed twice: 'a'"),
                  HasSubstr("'mime'; the nearest is 'mine'"),
                  HasSubstr("experiments[0].arms[1].weight: must be 0 to")));
}

TEST(ReadExperiments, WantsTwoArmsThatDiffer) {
  EXPECT_THAT(ReadText("experiments { name: 'e' arms { name: 'a' profile: 'auto' } }").problems,
              ElementsAre("experiments[0].arms: must be 2: 1"));
  EXPECT_THAT(ReadText("experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
                       "arms { name: 'b' profile: 'auto' } }")
                  .problems,
              ElementsAre(HasSubstr("experiments[0].arms: both have the same profile")));
  EXPECT_THAT(ReadText(std::string(kGood) + kGood).problems,
              ElementsAre("experiments[1].name: is listed twice: 'e'"));
}

TEST(ReadExperiments, WarnsOfALossyArmAndBoundsTheirNumber) {
  const ReadResult lossy = ReadText(
      "experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
      "arms { name: 'b' profile: 'lossy' } }");
  EXPECT_THAT(lossy.problems, IsEmpty());
  EXPECT_THAT(lossy.warnings, ElementsAre(HasSubstr("experiments[0].arms[1].profile: lossy is")));
  std::string many;
  for (int i = 0; i < 17; ++i) many += kGood;
  EXPECT_THAT(ReadText(many).problems, ElementsAre("experiments: must be at most 16: 17"));
}

}  // namespace
}  // namespace reel::front
