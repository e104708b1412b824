// SPDX-License-Identifier: Apache-2.0
#include "model/sampler/schedule.h"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Goldens() {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/schedules";
}

absl::StatusOr<Schedule> Make(const nlohmann::json& item) {
  const auto config = LoadSchedulerConfig(Goldens() + "/" + item["config"].get<std::string>());
  if (!config.ok()) return config.status();
  const auto kind = item["kind"].get<std::string>();
  if (kind == "spaced") {
    return SpacedSchedule(*config, item["steps"].get<int>(), item["tokens"].get<int64_t>());
  }
  if (kind == "linear_quadratic") return LinearQuadraticSchedule(*config, item["steps"].get<int>());
  const auto given = item["given"].get<std::vector<double>>();
  return kind == "given_sigmas" ? GivenSigmaSchedule(*config, given)
                                : GivenSchedule(*config, given);
}

TEST(Schedule, EqualsDiffusersToTheLastBit) {
  const auto golden = ReadJsonFile(Goldens() + "/schedules.json");
  ASSERT_TRUE(golden.ok()) << golden.status();
  ASSERT_GT((*golden)["cases"].size(), 100u);
  for (const nlohmann::json& item : (*golden)["cases"]) {
    const auto schedule = Make(item);
    ASSERT_TRUE(schedule.ok()) << schedule.status() << item["config"] << item["kind"];
    EXPECT_EQ(schedule->timesteps, item["timesteps"].get<std::vector<float>>())
        << item["config"] << item["kind"] << item.value("steps", 0);
    EXPECT_EQ(schedule->sigmas, item["sigmas"].get<std::vector<float>>())
        << item["config"] << item["kind"] << item.value("steps", 0);
  }
}

SchedulerConfig Static() { return {}; }
SchedulerConfig Dynamic() {
  SchedulerConfig config;
  config.use_dynamic_shifting = true;
  return config;
}

TEST(Schedule, HasThePublishedTimestepsOfTheDistilledModels) {
  const auto schedule = LinearQuadraticSchedule(Static(), 8);
  ASSERT_TRUE(schedule.ok());
  EXPECT_THAT(schedule->timesteps,
              ElementsAre(1000, 993.75f, 987.5f, 981.25f, 975, 909.375f, 725, 421.875f));
}

TEST(Schedule, RunsOnlyTheEndForAStrengthBelowOne) {
  EXPECT_EQ(FirstStep(5, 0.999), 1);
  EXPECT_EQ(FirstStep(4, 0.5), 2);
  EXPECT_EQ(FirstStep(4, 1), 0);
  EXPECT_EQ(FirstStep(4, 0), 4);
}

TEST(Schedule, FindsTheNextSigmaOfATokenByValue) {
  const Schedule schedule = {.timesteps = {1000, 500}, .sigmas = {1, 0.5f, 0}};
  EXPECT_EQ(NextSigma(schedule, 1), 0.5f);
  EXPECT_EQ(NextSigma(schedule, 0.7f), 0.5f);
  EXPECT_EQ(NextSigma(schedule, 0.5f), 0);
  EXPECT_EQ(NextSigma(schedule, 0), 0);
}

TEST(Schedule, RefusesStepsAndTimestepsThatMakeNoSchedule) {
  using absl::StatusCode;
  SchedulerConfig terminal = Dynamic();
  terminal.shift_terminal = 0.1;
  EXPECT_EQ(SpacedSchedule(terminal, 1, 10).status().code(), StatusCode::kInvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(SpacedSchedule(Static(), 0, 10).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(LinearQuadraticSchedule(Static(), 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(LinearQuadraticSchedule(Dynamic(), 8).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(GivenSchedule(Dynamic(), {1000.0}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(GivenSigmaSchedule(Dynamic(), {1000.0}).status().code(),
            StatusCode::kFailedPrecondition);
  for (const std::vector<double>& given :
       {std::vector<double>{}, {1001}, {-1}, {nan}, {500, 500}, {500, 600}}) {
    EXPECT_EQ(GivenSchedule(Static(), given).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(GivenSigmaSchedule(Static(), given).status().code(), StatusCode::kInvalidArgument);
  }
}

class BadSchedulerConfig : public ::testing::TestWithParam<const char*> {};

TEST_P(BadSchedulerConfig, IsRefusedByKey) {
  const reel::testing::TempFolder folder;
  folder.Write("scheduler_config.json", GetParam());
  const auto config = LoadSchedulerConfig(folder.path());
  EXPECT_EQ(config.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string key(GetParam() + 2, std::string(GetParam()).find('"', 2) - 2);
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(key));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSchedulerConfig,
    ::testing::Values(R"({"use_karras_sigmas":true})", R"({"invert_sigmas":true})",
                      R"({"time_shift_type":"cubic"})", R"({"shift":0})", R"({"shift_terminal":1})",
                      R"({"max_image_seq_len":256})", R"({"num_train_timesteps":0})"));

}  // namespace
}  // namespace reel::model
