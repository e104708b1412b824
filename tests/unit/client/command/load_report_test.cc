// SPDX-License-Identifier: Apache-2.0
#include "client/command/load_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace reel::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LoadAnswer Took(int millis, size_t spec = 0) {
  LoadAnswer answer;
  answer.spec = spec;
  answer.first_event = absl::Milliseconds(1);
  answer.took = absl::Milliseconds(millis);
  return answer;
}

TEST(PercentilesOf, AreValuesThatWereMeasured) {
  std::vector<absl::Duration> values;
  for (int i = 100; i >= 1; --i) values.push_back(absl::Milliseconds(i));
  const Percentiles of = PercentilesOf(values);
  EXPECT_EQ(of.p50, absl::Milliseconds(50));
  EXPECT_EQ(of.p99, absl::Milliseconds(99));
  EXPECT_EQ(of.max, absl::Milliseconds(100));
  EXPECT_EQ(PercentilesOf({absl::Seconds(3)}).p50, absl::Seconds(3));
  EXPECT_EQ(PercentilesOf({}).max, absl::ZeroDuration());
}

TEST(ReportOf, WhatWasRefusedOrNotSentIsNotInTime) {
  std::vector<LoadAnswer> answers = {Took(10), Took(2000), Took(5), Took(1)};
  answers[2].status = absl::ResourceExhaustedError("full");
  answers[3].sent = false;
  const LoadReport report = ReportOf(answers, 1, absl::Seconds(1), absl::Seconds(2));
  EXPECT_EQ(report.all.sent, 3u);
  EXPECT_EQ(report.all.ok, 2u);
  EXPECT_EQ(report.all.within_slo, 1u);
  EXPECT_EQ(report.all.errors.at("RESOURCE_EXHAUSTED"), 1u);
  EXPECT_EQ(report.all.refused.max, absl::Milliseconds(5));
  const std::string text = RenderReport(report, {"1"}, absl::Seconds(1));
  EXPECT_THAT(text, HasSubstr("all   4      2     1.00/s  25.0%"));
  EXPECT_THAT(text, HasSubstr("1 ended with RESOURCE_EXHAUSTED"));
  EXPECT_THAT(text, HasSubstr("1 were not sent"));
}

TEST(ReportOf, SpecsAreToldApart) {
  const std::vector<LoadAnswer> answers = {Took(10, 0), Took(30, 1), Took(50, 1)};
  const LoadReport report = ReportOf(answers, 2, absl::InfiniteDuration(), absl::Seconds(1));
  ASSERT_EQ(report.by_spec.size(), 2u);
  EXPECT_EQ(report.by_spec[1].took.max, absl::Milliseconds(50));
  const std::string text = RenderReport(report, {"short", "long"}, absl::InfiniteDuration());
  EXPECT_LT(text.find("short"), text.find("long"));
  EXPECT_THAT(text, Not(HasSubstr("%")));
}

TEST(ReportJson, IsOneObject) {
  const LoadReport report =
      ReportOf({Took(10, 0), Took(30, 1)}, 2, absl::Seconds(1), absl::Seconds(1));
  const auto json = nlohmann::json::parse(
      ReportJson(report, {"a \"b\"", "c"}, {2, 2, true, 2, 7}, absl::Seconds(1)));
  EXPECT_EQ(json["sent"], 2);
  EXPECT_EQ(json["specs"][0]["spec"], "a \"b\"");
  EXPECT_DOUBLE_EQ(json["specs"][1]["seconds"]["max"].get<double>(), 0.03);
  EXPECT_EQ(json["arrivals"], "poisson");
}

}  // namespace
}  // namespace reel::client
