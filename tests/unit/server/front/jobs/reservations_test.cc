// SPDX-License-Identifier: Apache-2.0
// Requests that are checked, and counted before their log has them.
#include "server/front/jobs/reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ReservationsTest : public ::testing::Test, public Harness {
 protected:
  NewJob Several(int count) {
    NewJob job = Request();
    job.count = count;
    return job;
  }
  absl::StatusOr<Video> Reserve(NewJob job) {
    return Await<Video>([&](auto done) { dispatcher->Reserve(std::move(job), std::move(done)); });
  }
  CostEstimate EstimateOf(NewJob job) {
    return *Await<CostEstimate>(
        [&](auto done) { dispatcher->Estimate(std::move(job), std::move(done)); });
  }
};

TEST_F(ReservationsTest, OfSeveralAllAreLetInOrNone) {
  options.max_queued_jobs = 4;
  Start();
  AddWorker();
  const auto one = Reserve(Request());
  ASSERT_TRUE(one.ok()) << one.status();
  const absl::Status refused = Reserve(Several(4)).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kQueueFull);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("video 4 of 4"));
  EXPECT_EQ(NumActive(), 1u);
  const auto three = Reserve(Several(3));
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(NumActive(), 4u);
  for (int place = 0; place < 3; ++place) {
    dispatcher->DropReservation(VideoAt(*three, place).id);
  }
  EXPECT_EQ(NumActive(), 1u);
}

TEST_F(ReservationsTest, OfSeveralEachCountsForItsTenant) {
  options.tenants["t"].max_jobs = 3;
  Start();
  AddWorker();
  EXPECT_EQ(ReasonOf(Reserve(Several(4)).status()), Reason::kTenantQuota);
  ASSERT_TRUE(Reserve(Several(3)).ok());
  EXPECT_EQ(ReasonOf(Reserve(Request()).status()), Reason::kTenantQuota);
}

// In a fleet the log's load is told once for the call.
TEST_F(ReservationsTest, OfSeveralEachCountsInAFleetsLoad) {
  options.max_queued_jobs = 10;
  Start();
  AddWorker();
  NewJob job = Several(4);
  job.fleet_load = NewJob::FleetLoad{.queued = 7};
  const auto validate = [&] {
    return Await<Video>([&](auto done) { dispatcher->Validate(job, std::move(done)); });
  };
  EXPECT_EQ(ReasonOf(validate().status()), Reason::kQueueFull);
  job.fleet_load->queued = 6;
  EXPECT_TRUE(validate().ok());
  EXPECT_EQ(NumActive(), 0u);
}

TEST_F(ReservationsTest, TheDeadlineOfSeveralIsThatOfTheLast) {
  Start();
  AddWorker();
  LearnSteps(absl::Seconds(1));
  const absl::Duration alone = EstimateOf(Request()).run_p90;
  ASSERT_GT(alone, absl::Seconds(5));
  NewJob one = Request();
  one.timeout = 2 * alone;
  EXPECT_TRUE(EstimateOf(one).refusal.ok());
  NewJob four = Several(4);
  four.timeout = 2 * alone;
  EXPECT_EQ(ReasonOf(EstimateOf(four).refusal), Reason::kDeadlineUnreachable);
  EXPECT_EQ(ReasonOf(Reserve(four).status()), Reason::kDeadlineUnreachable);
  EXPECT_EQ(NumActive(), 0u);
}

TEST_F(ReservationsTest, AnEstimateOfSeveralIsOfTheLastAndOfAllDeviceTime) {
  Start();
  AddWorker();
  LearnSteps(absl::Seconds(1));
  const CostEstimate one = EstimateOf(Request()), four = EstimateOf(Several(4));
  EXPECT_TRUE(four.refusal.ok()) << four.refusal;
  EXPECT_DOUBLE_EQ(four.device_seconds, 4 * one.device_seconds);
  EXPECT_EQ(four.run_p50, one.run_p50);
  EXPECT_EQ(four.queue_position, one.queue_position + 3);
  EXPECT_GE(four.queue, one.queue + 3 * one.run_p50 * 0.9);
  EXPECT_EQ(NumActive(), 0u);
}

// As after 2^64 - 1 comes 0.
TEST_F(ReservationsTest, SeedsFollowEachOtherAndWrap) {
  std::mt19937_64 random(20261129);
  Start();
  AddWorker();
  for (int round = 0; round < 50; ++round) {
    const int count = 1 + static_cast<int>(random() % kMostVideosPerCall);
    NewJob job = Several(count);
    job.spec.seed = round % 2 == 0 ? random() : ~uint64_t{0} - random() % 16;
    const auto first = Reserve(job);
    ASSERT_TRUE(first.ok()) << first.status();
    std::set<std::string> ids;
    for (int place = 0; place < count; ++place) {
      const Video video = VideoAt(*first, place);
      EXPECT_EQ(video.spec.seed, *job.spec.seed + static_cast<uint64_t>(place));
      EXPECT_EQ(video.spec.prompt, first->spec.prompt);
      ids.insert(video.id);
      dispatcher->DropReservation(video.id);
    }
    EXPECT_EQ(ids.size(), static_cast<size_t>(count));
  }
  EXPECT_EQ(VideoAt(
                [] {
                  Video video;
                  video.spec.seed = ~uint64_t{0};
                  return video;
                }(),
                1)
                .spec.seed,
            uint64_t{0});
  EXPECT_EQ(NumActive(), 0u);
}

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
