// SPDX-License-Identifier: Apache-2.0
// Requests that are checked, and counted before their log has them.
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/jobs/adoption.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ReservationsTest : public ::testing::Test, public Harness {};

TEST_F(ReservationsTest, AReservationCountsUntilItIsDropped) {
  options.max_queued_jobs = 1;
  Start();
  AddWorker();
  const auto reserve = [&] {
    return Await<Video>([&](auto done) { dispatcher->Reserve(Request(), std::move(done)); });
  };
  const auto reserved = reserve();
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(ReasonOf(reserve().status()), Reason::kQueueFull);
  EXPECT_EQ(pool.num_waiting(), 0);  // no worker gets it
  EXPECT_EQ(Find(reserved->id).status().code(), absl::StatusCode::kNotFound);
  dispatcher->DropReservation(reserved->id);
  EXPECT_TRUE(reserve().ok());
}

// A disk that is slow to take it is part of what its caller waits for.
TEST_F(ReservationsTest, ABillBeginsWithTheRequestAndNotWithTheLog) {
  Start();
  AddWorker();
  auto reserved = Await<Video>([&](auto done) { dispatcher->Reserve(Request(), std::move(done)); });
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  AdvanceAndPoke(absl::Milliseconds(70));
  const auto job = Adopt({*std::move(reserved), /*epoch=*/1, /*attempt=*/1});
  ASSERT_TRUE(job.ok()) << job.status();
  AdvanceAndPoke(absl::Milliseconds(30));
  RunToEnd(Take());
  Settle();
  const Video video = (*job)->Snapshot();
  ASSERT_TRUE(video.stats.has_value());
  EXPECT_EQ(video.stats->total, video.end_time - video.create_time);
  EXPECT_GE(video.stats->total, absl::Milliseconds(100));
  absl::Duration sum;
  for (const model::PartTime& part : video.stats->parts) sum += part.time;
  EXPECT_EQ(sum, video.stats->total);
  ASSERT_FALSE(video.stats->parts.empty());
  EXPECT_EQ(video.stats->parts[0].part, model::RunPart::kAccept);
  EXPECT_EQ(video.stats->parts[0].time, absl::Milliseconds(70));
}

TEST_F(ReservationsTest, ARefusalIsCounted) {
  options.max_queued_jobs = 1;
  Start();
  AddWorker();
  MustCreate(Request());
  Take();
  MustCreate(Request());
  Take();
  MustCreate(Request());
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kQueueFull);
  ASSERT_EQ(observer.Get().refused.size(), 1u);
  EXPECT_EQ(ReasonOf(observer.Get().refused[0]), Reason::kQueueFull);
}

TEST_F(ReservationsTest, ValidateChecksEverythingAndStartsNothing) {
  Start();
  AddWorker();
  const auto validate = [&](NewJob job) {
    return Await<Video>([&](auto done) { dispatcher->Validate(std::move(job), std::move(done)); });
  };
  const auto valid = validate(Request());
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_EQ(valid->id, "");
  EXPECT_EQ(valid->spec.width, 256);
  NewJob wrong = Request();
  wrong.spec.width = 100;
  EXPECT_EQ(ReasonOf(validate(wrong).status()), Reason::kInvalidSpec);
  EXPECT_EQ(NumActive(), 0u);
}

}  // namespace
}  // namespace reel::front
