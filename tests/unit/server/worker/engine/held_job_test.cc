// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/held_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reel::worker {
namespace {

using ::testing::ElementsAre;

HeldJob& Add(JobTable& jobs, const std::string& name, double key) {
  auto job = std::make_unique<HeldJob>();
  job->ref.job = name;
  job->order_key = key;
  job->deadline = absl::InfiniteFuture();
  HeldJob& added = *job;
  jobs.Add(std::move(job));
  return added;
}

std::vector<std::string> Names(const JobTable& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs.all()) names.push_back(job->ref.job);
  return names;
}

TEST(JobTable, SortsByKeyThenArrival) {
  JobTable jobs;
  Add(jobs, "b", 1);
  Add(jobs, "c", 1);
  Add(jobs, "a", 0);
  EXPECT_THAT(Names(jobs), ElementsAre("a", "b", "c"));
  jobs.Reorder(*jobs.Find("a"), 1);
  EXPECT_THAT(Names(jobs), ElementsAre("b", "c", "a"));
}

TEST(JobTable, AKeyThatIsNoNumberCountsAsZero) {
  JobTable jobs;
  Add(jobs, "b", 1);
  Add(jobs, "a", std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(Names(jobs), ElementsAre("a", "b"));
}

TEST(JobTable, FindsWhoCanMove) {
  JobTable jobs;
  Add(jobs, "parked", 0).parked = true;
  Add(jobs, "encoding", 1).phase = Phase::kEncode;
  EXPECT_EQ(jobs.FirstThatCanMove(), nullptr);
  HeldJob& ready = Add(jobs, "ready", 2);
  EXPECT_EQ(jobs.FirstThatCanMove(), &ready);
}

TEST(JobTable, KnowsTheFirstDeadline) {
  JobTable jobs;
  EXPECT_EQ(jobs.FirstDeadline(), absl::InfiniteFuture());
  Add(jobs, "a", 0).deadline = absl::FromUnixSeconds(9);
  Add(jobs, "b", 0).deadline = absl::FromUnixSeconds(5);
  EXPECT_EQ(jobs.FirstDeadline(), absl::FromUnixSeconds(5));
}

TEST(JobTable, RemovesOne) {
  JobTable jobs;
  HeldJob& a = Add(jobs, "a", 0);
  Add(jobs, "b", 0);
  EXPECT_EQ(jobs.Remove(a)->ref.job, "a");
  EXPECT_THAT(Names(jobs), ElementsAre("b"));
  EXPECT_EQ(jobs.Find("a"), nullptr);
}

}  // namespace
}  // namespace reel::worker
