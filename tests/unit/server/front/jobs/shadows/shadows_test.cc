// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/shadows/shadows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers at once.
class InstantComparer final : public FramesComparer {
 public:
  void Compare(const std::string& path_a, const std::string& path_b, Done done) override {
    const bool there = std::filesystem::exists(path_a) && std::filesystem::exists(path_b);
    if (!there) return done(absl::NotFoundError("a file is missing"));
    done(distance);
  }
  absl::StatusOr<FrameDistance> distance = FrameDistance{false, 42, 0.97};
};

class ShadowsTest : public ::testing::Test {
 protected:
  ShadowsTest() {
    harness_.options.experiments = {
        {"norms", "", 1, {{"old", "auto", 0.5}, {"new", "reference", 0.5}}, 1}};
    harness_.comparer = &comparer_;
    harness_.Start();
    harness_.AddWorker();
  }

  // A finished video of the first arm, whose steps took so long.
  JobPtr MustFinish(absl::Duration step = absl::Seconds(1)) {
    NewJob request = harness_.Request();
    request.spec.kernels.experiment = "norms";
    request.spec.kernels.arm = "old";
    const JobPtr job = harness_.MustCreate(std::move(request));
    End(harness_.Take(), step);
    EXPECT_EQ(WaitForEnd(*job).state, VideoState::kSucceeded);
    harness_.Settle();
    return job;
  }
  void End(const Sent& sent, absl::Duration step, const std::string& bytes = "frames") {
    harness_.Media(sent, 0, bytes);
    JobFinished finished;
    finished.media.size_bytes = static_cast<int64_t>(bytes.size());
    for (int i = 1; i <= 3; ++i) {
      finished.stats.spans.push_back(
          {model::RunPart::kDenoise, absl::ZeroDuration(), step, i, 1, false});
    }
    finished.stats.parts = {{model::RunPart::kDenoise, 3 * step}};
    finished.stats.device_seconds = 5;
    harness_.Report(sent, std::move(finished));
    harness_.Settle();
  }
  // Two ticks with nothing to do.
  void Idle() {
    harness_.AdvanceAndPoke(absl::Seconds(1));
    harness_.AdvanceAndPoke(absl::Seconds(1));
  }
  ShadowTally Tally() { return harness_.dispatcher->Experiments()[0].shadows; }
  std::vector<ShadowResult> Told() { return harness_.observer.Get().shadows; }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(harness_.folder.path() + "/media")) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  InstantComparer comparer_;
  Harness harness_;
};

TEST_F(ShadowsTest, AnIdleDeviceRendersTheVideoOnTheOtherArm) {
  const JobPtr job = MustFinish();
  const Video video = job->Snapshot();
  Idle();
  const Sent shadow = harness_.Take();
  EXPECT_EQ(shadow.worker, "w0");
  EXPECT_NE(shadow.assignment.ref.job, video.id);
  EXPECT_EQ(shadow.assignment.spec.kernels.profile, "reference");
  // All else as it was resolved, or its worker would refuse it.
  model::GenerationSpec same = shadow.assignment.spec;
  same.kernels.profile = video.spec.kernels.profile;
  EXPECT_EQ(same, video.spec);
  End(shadow, absl::Seconds(2), "other frames");
  const ShadowTally tally = Tally();
  EXPECT_EQ(tally.differ, 1);
  EXPECT_EQ(tally.psnr_db.mean(), 42);
  EXPECT_NEAR(tally.log_ratio.mean(), std::log(2), 1e-9);
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0].outcome, ShadowOutcome::kDiffers);
  EXPECT_THAT(Files(), ElementsAre(video.id + ".1.mp4"));
  // Once.
  Idle();
  EXPECT_EQ(harness_.pool.num_waiting(), 0);
}

TEST_F(ShadowsTest, TheSameFileNeedsNoComparison) {
  comparer_.distance = absl::InternalError("asked");
  MustFinish();
  Idle();
  End(harness_.Take(), absl::Seconds(1));
  EXPECT_EQ(Tally().identical, 1);
}

TEST_F(ShadowsTest, NobodySeesItOrPaysForIt) {
  MustFinish();
  const size_t ended = harness_.observer.Get().ended.size();
  Idle();
  const Sent shadow = harness_.Take();
  const std::string id = shadow.assignment.ref.job;
  ListQuery query;
  query.reach.everybodys = true;
  const auto list = [&] {
    return Await<ListPage>([&](auto done) { harness_.dispatcher->List(query, std::move(done)); });
  };
  EXPECT_EQ(list()->videos.size(), 1u);
  EXPECT_FALSE(harness_.Find(id).ok());
  EXPECT_FALSE(harness_.Cancel(id).ok());
  EXPECT_EQ(harness_.dispatcher->Running("w0"), 0);
  End(shadow, absl::Seconds(1), "other frames");
  EXPECT_EQ(list()->videos.size(), 1u);
  EXPECT_EQ(harness_.observer.Get().ended.size(), ended);
  EXPECT_EQ(harness_.dispatcher->Experiments()[0].arms[1].videos, 0);
}

TEST_F(ShadowsTest, ItIsStoppedBeforeAJobArrives) {
  MustFinish();
  Idle();
  const Sent shadow = harness_.Take();
  NewJob request = harness_.Request();
  request.spec.kernels.experiment = "-";
  const JobPtr job = harness_.MustCreate(std::move(request));
  // The job waits for nothing: not for the answer either.
  const Sent sent = harness_.Take();
  EXPECT_EQ(sent.assignment.ref.job, job->Snapshot().id);
  EXPECT_LT(sent.assignment.order_key, shadow.assignment.order_key);
  EXPECT_THAT(harness_.pool.cancelled(), ElementsAre(shadow.assignment.ref.job));
  harness_.CancelledAtWorker(shadow);
  harness_.Settle();
  EXPECT_EQ(Tally().given_up, 1);
  harness_.RunToEnd(sent);
  EXPECT_EQ(WaitForEnd(*job).state, VideoState::kSucceeded);
  // It has another try.
  harness_.Settle();
  Idle();
  EXPECT_EQ(harness_.Take().assignment.spec.kernels.profile, "reference");
}

TEST_F(ShadowsTest, ItGoesOnWhereAnotherDeviceIsIdle) {
  MustFinish();
  harness_.AddWorker("w1");
  Idle();
  const Sent shadow = harness_.Take();
  EXPECT_EQ(shadow.worker, "w0");
  NewJob request = harness_.Request();
  request.spec.kernels.experiment = "-";
  harness_.MustCreate(request);
  EXPECT_EQ(harness_.Take().worker, "w1");
  EXPECT_THAT(harness_.pool.cancelled(), IsEmpty());
  harness_.MustCreate(request);
  EXPECT_EQ(harness_.Take().worker, "w0");
  EXPECT_THAT(harness_.pool.cancelled(), ElementsAre(shadow.assignment.ref.job));
}

TEST_F(ShadowsTest, ADrainAndAChangeOfModelsStopIt) {
  MustFinish();
  Idle();
  const Sent first = harness_.Take();
  (void)Await<ServedModel>(
      [&](auto done) { harness_.dispatcher->LoadModel("card", std::move(done)); });
  EXPECT_THAT(harness_.pool.cancelled(), ElementsAre(first.assignment.ref.job));
  harness_.CancelledAtWorker(first);
  harness_.Settle();
  harness_.dispatcher->Drain(absl::ZeroDuration(), absl::Seconds(10), [] {});
  Idle();
  EXPECT_EQ(harness_.pool.num_waiting(), 0);
}

TEST_F(ShadowsTest, ALostWorkerIsAFailureAndBlamesNobody) {
  MustFinish();
  for (int i = 0; i < ShadowQueue::kMostFailures; ++i) {
    Idle();
    const Sent shadow = harness_.Take();
    ASSERT_EQ(shadow.worker, "w0") << i;
    harness_.dispatcher->WorkerLost("w0", LossCause::kExit);
    harness_.Settle();
    EXPECT_EQ(Tally().failed, i + 1);
    harness_.AddWorker();
    if (i + 1 < ShadowQueue::kMostFailures) MustFinish();
  }
  // That was enough.
  MustFinish();
  Idle();
  EXPECT_EQ(harness_.pool.num_waiting(), 0);
}

TEST_F(ShadowsTest, OfADeletedVideoThereIsNone) {
  const JobPtr job = MustFinish();
  ASSERT_TRUE(harness_.Delete(job->Snapshot().id).ok());
  harness_.Settle();
  Idle();
  EXPECT_EQ(harness_.pool.num_waiting(), 0);
}

TEST_F(ShadowsTest, ItsFileIsGoneAfterACrash) {
  const JobPtr job = MustFinish();
  Idle();
  harness_.Media(harness_.Take(), 0, "half of it");
  harness_.Settle();
  EXPECT_EQ(Files().size(), 2u);
  harness_.Start();
  EXPECT_THAT(Files(), ElementsAre(job->Snapshot().id + ".1.mp4"));
  EXPECT_FALSE(harness_.folder.Has("quarantine/media"));
}

TEST_F(ShadowsTest, AStepOfItMayTakeAsLongAsItsOwnPlanTakes) {
  MustFinish();
  Idle();
  harness_.Take();
  EXPECT_GT(harness_.pool.step_limit("w0"), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
