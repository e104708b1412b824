// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ReportsTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
};

TEST_F(ReportsTest, RunningBeginsWithTheFirstStageOfItsOwn) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kQueue, 0);
  Settle();
  EXPECT_EQ(job->Snapshot().state, VideoState::kQueued);
  Progress(sent, model::Stage::kTextEncode, 0);
  Settle();
  EXPECT_EQ(job->Snapshot().state, VideoState::kRunning);
  EXPECT_EQ(job->Snapshot().start_time, clock.Wall());
  EXPECT_EQ(observer.Get().started, 1);
}

TEST_F(ReportsTest, AFirstEstimateCountsCopiesAtTheSpeedThatTheWorkerMeasured) {
  const auto run_of = [&] {
    return Await<CostEstimate>([&](auto done) { dispatcher->Estimate(Request(), std::move(done)); })
        ->run_p50;
  };
  model::ModelCard card = TestCard("card");
  card.streamed_bytes = 10'000'000'000;
  Load("w0", card);
  Settle();
  const absl::Duration at_a_usual_link = run_of();
  WorkerInfo worker = ReadyWorker("w0");
  worker.copy_bytes_per_second = 50'000'000'000;
  dispatcher->WorkerChanged(worker);
  Load("w0", card);
  Settle();
  const int steps = card.defaults.num_steps();
  EXPECT_EQ(at_a_usual_link - run_of(), steps * absl::Milliseconds(200)) << "400 ms to 200";
}

TEST_F(ReportsTest, KeepsFirstAndLastStepsAndStagesAndTheLatestOfTheRest) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  for (int step = 1; step <= 10; ++step) Progress(sent, model::Stage::kDenoise, step);
  Progress(sent, model::Stage::kDecode, 10);
  Settle();
  std::vector<int> steps;
  for (auto entry = job->NextEntry(1); entry; entry = job->NextEntry(entry->sequence)) {
    const auto& progress = std::get<ProgressEvent>(entry->event).progress;
    if (progress.stage == model::Stage::kDenoise) steps.push_back(progress.step);
  }
  EXPECT_EQ(steps, (std::vector<int>{1, 10}));
}

TEST_F(ReportsTest, TheFilesTypeIsKnownWithItsFirstBytes) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDecode, 4);
  Settle();
  EXPECT_EQ(job->Snapshot().media.content_type, "");
  Report(sent, JobMedia{0, std::string("....avcC\x01\x64\x00\x0d....", 16), true});
  Settle();
  EXPECT_EQ(job->media_size(), 16);
  EXPECT_EQ(job->Snapshot().media.content_type, "video/mp4; codecs=\"avc1.64000d\"");
}

TEST_F(ReportsTest, HoldsOnePreview) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 1);
  for (int step = 1; step <= 3; ++step) {
    Report(sent, JobPreview{step, std::string(100, 'j'), 64, 64});
  }
  Settle();
  int previews = 0;
  for (auto entry = job->NextEntry(0); entry; entry = job->NextEntry(entry->sequence)) {
    if (const auto* preview = std::get_if<PreviewEvent>(&entry->event)) {
      ++previews;
      EXPECT_EQ(preview->step, 3);
    }
  }
  EXPECT_EQ(previews, 1);
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_FALSE(FindEntry<PreviewEvent>(*job).has_value());
}

TEST_F(ReportsTest, ReportsOfAnotherAttemptOrJobChangeNothing) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  const std::string id = sent.assignment.ref.job;
  const auto report = [&](const std::string& name, int attempt, WorkerEvent event) {
    dispatcher->Report({"w0", {name, attempt}, std::move(event)});
  };
  report(id, 7, JobProgress{model::Stage::kDenoise, 5, 10});
  report("r0-unknown", 1, JobProgress{model::Stage::kDenoise, 5, 10});
  report(id, 7, JobPreview{1, "x", 1, 1});
  report(id, 7, JobMedia{0, "x", true});
  report("../../etc/passwd", 1, JobMedia{0, "x", true});
  report(id, 7, JobFinished{});
  report(id, 7, JobFailed{absl::InternalError("x"), true});
  report("r0-unknown", 1, JobFailed{absl::InternalError("x"), true});
  Settle();
  EXPECT_EQ(job->Snapshot().state, VideoState::kQueued);
  EXPECT_EQ(job->media_size(), 0);
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
}

TEST_F(ReportsTest, TheEstimateIsChecked) {
  StepSample sample;
  sample.model = "card";
  sample.plan = "auto";
  sample.rows = 512;
  sample.duration = absl::Seconds(1);
  for (int i = 0; i < 10; ++i) Step(sample);
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 1);
  Settle();
  clock.Advance(absl::Seconds(10));
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
  Settle();
  EXPECT_EQ(observer.Get().estimates, 1);
  EXPECT_EQ(observer.Get().within_p90, 1);
}

// What a step of one job took.
StepSample SampleOf(int64_t rows, absl::Duration took) {
  StepSample sample;
  sample.model = "card";
  sample.plan = "auto";
  sample.rows = rows;
  sample.duration = took;
  sample.stage = model::Stage::kDenoise;
  return sample;
}

// A step that took over what an earlier one computed says nothing of full ones.
TEST_F(ReportsTest, AReusedStepIsLearnedApart) {
  for (int i = 0; i < 20; ++i) Step(SampleOf(200, absl::Seconds(1)));
  for (int i = 0; i < 20; ++i) Step(SampleOf(400, absl::Seconds(10)));
  StepSample reused = SampleOf(400, absl::Seconds(1));
  reused.reused = 1;
  for (int i = 0; i < 20; ++i) Step(reused);
  NewJob request = Request();
  request.spec.preset = "twice";
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(request, std::move(done)); });
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  // Of these jobs nobody knows more than their rows, so that no work of the request's was seen
  // reused.
  EXPECT_NEAR(estimate->device_seconds, 10 + 40, 0.5);
}

TEST_F(ReportsTest, AVideoInPassesIsEstimatedAndTimedPassByPass) {
  for (int i = 0; i < 20; ++i) Step(SampleOf(200, absl::Seconds(1)));
  for (int i = 0; i < 20; ++i) Step(SampleOf(400, absl::Seconds(10)));
  NewJob request = Request();
  request.spec.preset = "twice";
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(request, std::move(done)); });
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_NEAR(absl::ToDoubleSeconds(estimate->run_p50), 10 + 40, 0.5);
  EXPECT_NEAR(estimate->device_seconds, 10 + 40, 0.5);
  EXPECT_EQ(estimate->latent_tokens, 400);

  JobPtr job = MustCreate(request);
  EXPECT_EQ(job->Snapshot().progress.num_steps, 14);
  const Sent sent = Take();
  const auto remaining = [&](int step) {
    Report(sent, JobProgress{model::Stage::kDenoise, step, 14});
    Settle();
    EXPECT_EQ(job->Snapshot().progress.num_steps, 14);
    return absl::ToDoubleSeconds(job->Snapshot().progress.remaining);
  };
  EXPECT_NEAR(remaining(1), 9 + 40, 0.5);
  EXPECT_NEAR(remaining(10), 40, 0.5);
  EXPECT_NEAR(remaining(13), 10, 0.5);
}

TEST_F(ReportsTest, AnEstimateIsThatOfAJobOfItsPriority) {
  for (int i = 0; i < 20; ++i) Step(SampleOf(512, absl::Seconds(1)));
  for (int i = 0; i < 6; ++i) MustCreate(Request());
  Settle();
  const auto estimate = [&](Priority priority, const std::string& tenant) {
    NewJob request = Request();
    request.priority = priority;
    request.tenant = tenant;
    return *Await<CostEstimate>([&](auto done) { dispatcher->Estimate(request, std::move(done)); });
  };
  const CostEstimate high = estimate(Priority::kHigh, "t"), low = estimate(Priority::kLow, "t");
  EXPECT_EQ(high.queue_position, 0);
  EXPECT_GT(low.queue_position, 2);
  EXPECT_LT(high.queue, low.queue);
  EXPECT_GE(high.queue, absl::ZeroDuration());
  // Others' jobs do not wait for it, whatever it calls itself.
  EXPECT_EQ(estimate(Priority::kHigh, "other").queue_position,
            estimate(Priority::kLow, "other").queue_position);
}

TEST_F(ReportsTest, ProgressBeginsWithTheStepsOfAllPasses) {
  NewJob request = Request();
  request.spec.preset = "twice";
  const auto valid =
      Await<Video>([&](auto done) { dispatcher->Validate(request, std::move(done)); });
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_EQ(valid->progress.num_steps, 14);
  request.spec.num_inference_steps = 3;
  JobPtr job = MustCreate(request);
  EXPECT_EQ(job->Snapshot().progress.num_steps, 7);
}

TEST_F(ReportsTest, AModelThatFailedToLoadSaysWhy) {
  dispatcher->Report(
      {"w0", {}, ModelFailed{"late", absl::DataLossError("the weights fail their hash")}});
  NewJob request = Request();
  request.spec.model = "late";
  const absl::Status refused = Create(request).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kModelNotReady);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("fail their hash"));
}

}  // namespace
}  // namespace reel::front
