// SPDX-License-Identifier: Apache-2.0
// A new process on the folder of one that is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class RestartTest : public ::testing::Test, public Harness {};

// What becomes of them its log says.
TEST_F(RestartTest, OfWhatWaitedOrRanOnlyItsNameIsKnownAndWhetherItHadBegun) {
  Start();
  AddWorker();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(MustCreate(Request())->Snapshot().id);
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 3);
  Media(running, 0, "half a file");
  Take();
  Settle();
  Start();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
  EXPECT_EQ(NumActive(), 0u);
  std::set<std::string> never_begun(ids.begin(), ids.end());
  never_begun.erase(running.assignment.ref.job);
  EXPECT_EQ(dispatcher->never_begun(), never_begun);
  for (const std::string& id : ids) {
    EXPECT_EQ(ReasonOf(Find(id).status()), Reason::kVideoNotFound) << id;
  }
}

TEST_F(RestartTest, WhatLostItsWorkerHadBegun) {
  Start();
  AddWorker();
  MustCreate(Request());
  Progress(Take(), model::Stage::kDenoise, 3);
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  Settle();
  Start();
  EXPECT_TRUE(dispatcher->never_begun().empty());
}

TEST_F(RestartTest, WhatIsLeftOfADeadlineIsNeverMoreThanWasAskedFor) {
  Start();
  AddWorker();
  NewJob request = Request();
  request.timeout = absl::Seconds(30);
  const Video video = MustCreate(request)->Snapshot();
  Take();
  clock.JumpWall(-absl::Hours(1));
  Start();
  AddWorker();
  ASSERT_TRUE(Adopt({video, 2, 2}).ok());
  EXPECT_EQ(Take().assignment.time_left, absl::Seconds(30));
}

TEST_F(RestartTest, FilesOfNobodyAreRemovedAndFinishedOnesStay) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  RunToEnd(Take(), "finished");
  const std::string id = WaitForState(*job, VideoState::kSucceeded).id;
  std::ofstream(folder.path() + "/media/r0-orphan.1.mp4") << "x";
  Start();
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/media/r0-orphan.1.mp4"));
  EXPECT_EQ(ReadAll(**Find(id)), "finished");
  EXPECT_EQ(media->Usage().stored_bytes, 8);
}

TEST_F(RestartTest, CostsAndCardsAreRemembered) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  for (int i = 0; i < 10; ++i) {
    StepSample sample;
    sample.model = "card";
    sample.plan = "auto";
    sample.rows = 512;
    sample.job_rows = {512};
    sample.jobs = {sent.assignment.ref.job};
    sample.duration = absl::Seconds(2);
    Step(sample);
  }
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
  Start();
  ASSERT_FALSE(dispatcher->Models().empty());
  EXPECT_TRUE(dispatcher->Models()[0].has_card);
  EXPECT_FALSE(dispatcher->Models()[0].ready);
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(Request(), std::move(done)); });
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_GE(estimate->run_p50, absl::Seconds(19));

  NewJob hasty = Request();
  hasty.timeout = absl::Seconds(5);
  AddWorker();
  EXPECT_EQ(ReasonOf(Create(hasty).status()), Reason::kDeadlineUnreachable);
  options.build = "of tomorrow";  // for which it is a guess
  Start();
  AddWorker();
  EXPECT_TRUE(Create(hasty).ok());
}

TEST_F(RestartTest, AJobThatCannotBeReadIsNotStuck) {
  Start();
  AddWorker();
  Start();
  JobRow row;
  row.id = "r0-broken";
  row.tenant = "t";
  row.state = VideoState::kRunning;
  row.create_time = clock.Wall();
  row.video = "nonsense";
  ASSERT_TRUE(AwaitStatus([&](auto done) { store->Create(row, std::move(done)); }).ok());
  Start();
  Settle();
  EXPECT_EQ(ReasonOf(Find("r0-broken").status()), Reason::kVideoNotFound);
}

}  // namespace
}  // namespace reel::front
