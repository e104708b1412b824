// SPDX-License-Identifier: Apache-2.0
// Jobs of a worker whose memory is accounted for: they wait for each other, or leave for each
// other, instead of running out of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

// A job of the card has 256 tokens, and takes a byte for each; ten steps of a second.
class MemoryTest : public ::testing::Test, public Harness {
 protected:
  static constexpr int64_t kJob = 256;

  MemoryTest() { options.fill_rows = 100'000; }
  void SetUp() override {
    Start();
    Add("w0", 2 * kJob);
  }
  // With so much beside the margin.
  void Add(const std::string& name, int64_t usable) {
    WorkerInfo info = ReadyWorker(name);
    info.memory.total = usable * 20 / 19 + 1;
    dispatcher->WorkerChanged(info);
    model::ModelCard card = TestCard();
    card.memory.token = 1;
    Load(name, card);
    StepSample sample;
    sample.model = "card";
    sample.plan = "auto";
    sample.rows = 512;
    sample.duration = absl::Seconds(1);
    for (int i = 0; i < 20; ++i) Step(sample, name);
    Settle();
  }
  void SetMemory(const model::DeviceMemory& memory) {
    WorkerInfo info = dispatcher->Workers()[0];
    const int64_t total = info.memory.total;
    info.memory = memory;
    info.memory.total = total;
    dispatcher->WorkerChanged(info);
    Settle();
  }
  NewJob Large(const std::string& prompt = "large") {
    NewJob request = Request(prompt);
    request.spec.num_frames = 57;  // twice the tokens
    return request;
  }
  NewJob Small(const std::string& prompt = "small") {
    NewJob request = Request(prompt);
    request.spec.num_frames = 9;             // half of them
    request.spec.num_inference_steps = 100;  // or it would go first
    return request;
  }
  int64_t Estimate(const NewJob& job) {
    return Await<CostEstimate>([&](auto done) { dispatcher->Estimate(job, std::move(done)); })
        ->peak_memory_bytes;
  }
  void FinishWith(const Sent& sent, int64_t memory) {
    Progress(sent, model::Stage::kDenoise, 10);
    Media(sent, 0, "frames");
    JobFinished finished;
    finished.media.size_bytes = 6;
    finished.memory_bytes = memory;
    Report(sent, std::move(finished));
    Settle();
  }
};

TEST_F(MemoryTest, WhatNoDeviceHasTheMemoryForIsRefused) {
  NewJob huge = Request();
  huge.spec.num_frames = 121;  // 16 latent frames: four times the tokens
  const absl::Status refused = Create(huge).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kTooLargeForDevice);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("needed: 1024, available: 512"));
  EXPECT_THAT(SerializeError(refused), HasSubstr("MEMORY"));
  // What others hold now may be gone later.
  SetMemory({.held = 2 * kJob, .reserved = 1});
  EXPECT_TRUE(Create(Large()).ok());
  // A larger device, where the request does not name another.
  Add("w1", 4 * kJob);
  EXPECT_TRUE(Create(huge).ok());
  huge.spec.worker = "w0";
  EXPECT_EQ(ReasonOf(Create(huge).status()), Reason::kTooLargeForDevice);
}

TEST_F(MemoryTest, AJobThatDoesNotFitBesideOthersWaits) {
  MustCreate(Request("a"));
  const Sent a = Take();
  MustCreate(Request("b"));
  const Sent b = Take();
  MustCreate(Request("c"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  RunToEnd(a);
  EXPECT_EQ(Take().assignment.spec.prompt, "c");
}

TEST_F(MemoryTest, NobodySlipsInBeforeOneThatWaits) {
  MustCreate(Request("a"));
  const Sent a = Take();
  MustCreate(Large());
  MustCreate(Small());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0) << "the small one would fit, and another after it, for ever";
  RunToEnd(a);
  const Sent large = Take();
  EXPECT_EQ(large.assignment.spec.prompt, "large");
  RunToEnd(large);
  EXPECT_EQ(Take().assignment.spec.prompt, "small");
}

TEST_F(MemoryTest, WhoWaitsForOneDeviceKeepsNobodyFromAnother) {
  Add("w1", kJob);
  NewJob first = Request("a");
  first.spec.worker = "w0";
  MustCreate(first);
  Take();
  NewJob large = Large();
  large.spec.worker = "w0";
  MustCreate(large);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  MustCreate(Small());
  EXPECT_EQ(Take().worker, "w1");
}

TEST_F(MemoryTest, WhatOthersTakeIsWaitedFor) {
  SetMemory({.held = 2 * kJob, .reserved = 10});
  MustCreate(Request("a"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  SetMemory({.held = 20, .reserved = 10});
  EXPECT_EQ(Take().assignment.spec.prompt, "a");
}

class ParkedMemoryTest : public MemoryTest {
 protected:
  // Nobody shares a step.
  ParkedMemoryTest() { options.fill_rows = 0; }
};

TEST_F(ParkedMemoryTest, TheOneThatIsParkedLeavesTheDevice) {
  NewJob request = Large("running");
  request.spec.num_inference_steps = 40;
  MustCreate(request);
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 0);
  Settle();
  clock.Advance(absl::Seconds(1));
  Progress(running, model::Stage::kDenoise, 5);
  Settle();
  NewJob tight = Request("tight");
  tight.timeout = absl::Seconds(20);
  MustCreate(tight);
  const Sent other = Take();
  EXPECT_TRUE(pool.parked_to_host(running));
  Report(running, JobParked{0});
  // It comes back: nobody gets its place.
  MustCreate(Request("c"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  RunToEnd(other);
  Settle();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(MemoryTest, EstimatesTellTheFormulaAndThenWhatWasSeen) {
  EXPECT_EQ(Estimate(Request()), kJob);
  EXPECT_EQ(Estimate(Large()), 2 * kJob);
  MustCreate(Request());
  FinishWith(Take(), 300);
  EXPECT_EQ(Estimate(Request()), 300);
  EXPECT_EQ(Estimate(Large()), 2 * kJob);
}

TEST_F(MemoryTest, OutOfItBesideOthersTheJobRunsAgainAloneAndMoreIsAsked) {
  MustCreate(Request("a"));
  const Sent a = Take();
  MustCreate(Request("b"));
  const Sent b = Take();
  Failed(b, MakeError(Reason::kOutOfDeviceMemory, "beside others"), false);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  EXPECT_EQ(Estimate(Request()), kJob + kJob / 4);
  RunToEnd(a);
  const Sent again = Take();
  EXPECT_EQ(again.assignment.spec.prompt, "b");
  EXPECT_TRUE(again.assignment.alone);
}

TEST_F(MemoryTest, OutOfItAloneSuchJobsAreRefused) {
  const JobPtr job = MustCreate(Request("a"));
  Failed(Take(), MakeError(Reason::kOutOfDeviceMemory, "alone"), true);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kOutOfDeviceMemory);
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kTooLargeForDevice);
  EXPECT_TRUE(Create(Small()).ok());
}

TEST_F(MemoryTest, OutOfItWhileOthersHoldTheDeviceSuchJobsWait) {
  SetMemory({.held = kJob, .reserved = 10});
  const JobPtr job = MustCreate(Request("a"));
  Failed(Take(), MakeError(Reason::kOutOfDeviceMemory, "alone"), true);
  WaitForState(*job, VideoState::kFailed);
  MustCreate(Request("b"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  SetMemory({.held = 20, .reserved = 10});
  EXPECT_EQ(Take().assignment.spec.prompt, "b");
}

}  // namespace
}  // namespace reel::front
