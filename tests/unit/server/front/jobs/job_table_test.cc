// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_table.h"

#include <gtest/gtest.h>

#include "tests/fakes/manual_clock.h"

namespace reel::front {
namespace {

class JobTableTest : public ::testing::Test {
 protected:
  ActiveJob& Add(const std::string& id, Phase phase) {
    ActiveJob job(phase);
    job.id = id;
    job.tenant = "t";
    return table_.Add(std::move(job));
  }
  reel::testing::ManualClock clock_;
  JobTable table_{clock_};
};

TEST_F(JobTableTest, ShowsATenantItsOwnJobsOnceTheirLogHasThem) {
  ActiveJob& reserved = Add("r", Phase::kReserved);
  EXPECT_EQ(table_.FindOf({"t"}, "r"), nullptr);
  EXPECT_EQ(table_.Find("r"), &reserved);
  ActiveJob& job = Add("a", Phase::kQueued);
  EXPECT_EQ(table_.FindOf({"t"}, "a"), &job);
  EXPECT_EQ(table_.FindOf({"u"}, "a"), nullptr);
}

TEST_F(JobTableTest, FindsAnAttemptThatIsNotOver) {
  ActiveJob& job = Add("a", Phase::kQueued);
  job.attempt = 2;
  EXPECT_EQ(table_.FindAttempt("a", 2), &job);
  EXPECT_EQ(table_.FindAttempt("a", 1), nullptr);
  EXPECT_EQ(table_.FindAttempt("b", 2), nullptr);
}

TEST_F(JobTableTest, TellsThatSomethingChangedOnce) {
  EXPECT_FALSE(table_.TakeChanged());
  ActiveJob& job = Add("a", Phase::kQueued);
  EXPECT_TRUE(table_.TakeChanged());
  EXPECT_FALSE(table_.TakeChanged());
  EXPECT_EQ(table_.Apply(job, JobEvent::kPlaced), Release::kNothing);
  EXPECT_TRUE(table_.TakeChanged());
  table_.Remove("a");
  EXPECT_TRUE(table_.TakeChanged());
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(JobTableTest, AnEventThatComesTooLateChangesNothing) {
  ActiveJob& job = Add("a", Phase::kQueued);
  EXPECT_TRUE(table_.Apply(job, JobEvent::kEnded).has_value());
  table_.TakeChanged();
  EXPECT_FALSE(table_.Apply(job, JobEvent::kEnded).has_value());
  EXPECT_EQ(job.phase(), Phase::kEnding);
  EXPECT_FALSE(table_.TakeChanged());
}

}  // namespace
}  // namespace reel::front
