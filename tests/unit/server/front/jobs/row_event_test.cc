// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/jobs/job_records.h"

namespace reel::front {
namespace {

JobRow Row() {
  JobRow row;
  row.num_conditions = 2;
  return row;
}

TEST(RowEvent, ARestartQueuesTheNextAttempt) {
  JobRow row = Row();
  Apply(RowStarted{}, row);
  EXPECT_EQ(row.state, VideoState::kRunning);
  for (int attempt = 2; attempt <= 3; ++attempt) {
    Apply(RowRestarted{{.sequence = 5,
                        .time = absl::UnixEpoch(),
                        .reason = "WORKER_LOST",
                        .attempt = attempt}},
          row);
  }
  EXPECT_EQ(row.state, VideoState::kQueued);
  EXPECT_EQ(row.attempt, 3);
  EXPECT_EQ(row.restarts.size(), 2u);
  EXPECT_EQ(row.num_conditions, 2);
}

TEST(RowEvent, ASuccessKeepsItsMedia) {
  JobRow row = Row();
  Apply(RowSucceeded{absl::FromUnixSeconds(9), 7, {3, 7}, 42, {1}}, row);
  EXPECT_EQ(row.state, VideoState::kSucceeded);
  EXPECT_EQ(row.media_bytes, 7);
  EXPECT_EQ(row.fragment_ends.size(), 2u);
  EXPECT_EQ(row.block_sums.size(), 1u);
  EXPECT_EQ(row.last_sequence, 42u);
  EXPECT_EQ(row.expire_time, absl::FromUnixSeconds(9));
  EXPECT_EQ(row.num_conditions, 0);
}

TEST(RowEvent, AnyOtherEndKeepsNoFiles) {
  JobRow row = Row();
  Apply(RowFailed{VideoState::kCancelled, absl::FromUnixSeconds(9)}, row);
  EXPECT_EQ(row.state, VideoState::kCancelled);
  EXPECT_EQ(row.expire_time, absl::FromUnixSeconds(9));
  EXPECT_EQ(row.num_conditions, 0);
}

TEST(RowEvent, ASuccessThatCouldNotBeStoredIsAsIfItHadFailed) {
  JobRow stored = Row(), failed = Row();
  Apply(RowSucceeded{absl::UnixEpoch(), 7, {7}, 42, {1}}, stored);
  for (JobRow* row : {&stored, &failed}) Apply(RowFailed{}, *row);
  EXPECT_EQ(stored.state, failed.state);
  EXPECT_EQ(stored.media_bytes, 0);
  EXPECT_EQ(stored.last_sequence, 0u);
  EXPECT_TRUE(stored.fragment_ends.empty());
  EXPECT_TRUE(stored.block_sums.empty());
}

}  // namespace
}  // namespace reel::front
