// SPDX-License-Identifier: Apache-2.0
// A server that was alone, and is one of a fleet from now on.
#include "server/front/fleet_joining.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "server/front/objects/file_store.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class FleetJoiningTest : public FleetFixture {
 protected:
  FleetJoiningTest() : member_(log_, serializer_, "old") {
    member_.has_own_log = true;
    member_.names = "lone12";
    store_ = *FileStore::Open(member_.folder.File("objects"), ops_);
    member_.objects = store_.get();
    member_.Begin(/*with_worker=*/true, /*alone=*/false);
  }
  void Settle() {
    member_.Pass(absl::ZeroDuration());
    member_.Settle();
    member_.Pass(absl::ZeroDuration());
  }
  std::string Ask(NewJob job) { return member_.MustAsk(std::move(job))->Snapshot().id; }
  // Asks for a video that a worker begins.
  std::string Run(NewJob job) {
    const std::string id = Ask(std::move(job));
    member_.Progress(member_.Take(), model::Stage::kDenoise, 3);
    Settle();
    return id;
  }
  void Leave() {
    Settle();
    member_.Kill();
    member_.has_own_log = false;
    member_.names = "prod";
    member_.objects = objects_;
  }
  JobRow RowOf(const std::string& id) {
    member_.OpenStores();
    return **Await<std::optional<JobRow>>(
        [&](auto done) { member_.store->Find(id, std::move(done)); });
  }
  // A fleet's server renders until the video has ended.
  VideoState RenderToEnd(const std::string& id) {
    EXPECT_TRUE(Comes([&] {
      member_.Pass(kStep);
      while (member_.pool.num_waiting() > 0) member_.RunToEnd(member_.Take());
      member_.Settle();
      return IsFinal(member_.StateOf(id).value_or(VideoState::kQueued));
    }));
    return *member_.StateOf(id);
  }

  FileOps ops_;
  std::unique_ptr<FileStore> store_;
  Member member_;
};

TEST_F(FleetJoiningTest, WhatHasEndedIsServedAndTheRestIsRendered) {
  const std::string done = Ask(member_.Request());
  member_.RunToEnd(member_.Take());
  Settle();
  ASSERT_EQ(member_.StateOf(done), VideoState::kSucceeded);
  const std::string runs = Run(member_.Request());
  const std::string held = Ask(member_.Request()), waits = Ask(member_.Request());
  member_.Take();
  Leave();
  member_.Begin();
  EXPECT_EQ(ReadAll(**member_.Get(done)), "frames");
  for (const std::string& id : {runs, held, waits}) {
    EXPECT_EQ(RenderToEnd(id), VideoState::kSucceeded) << id;
    EXPECT_EQ((*member_.Get(id))->attempt(), id == runs ? AttemptOf(2) : 1) << id;
  }
  ListQuery all;
  all.reach = {"t"};
  all.page_size = 10;
  EXPECT_EQ(member_.Page(all).size(), 4U) << "each once";
  // To others what has ended is another server's.
  Member& other = Add("other", /*with_worker=*/false);
  EXPECT_EQ(other.StateOf(waits), VideoState::kSucceeded);
  EXPECT_EQ(ReasonOf(other.Get(done).status()), Reason::kWrongReplica);
}

TEST_F(FleetJoiningTest, AVideoThatHasEndedIsDeletedAndCancelledAsBefore) {
  const std::string done = Ask(member_.Request());
  member_.RunToEnd(member_.Take());
  Leave();
  member_.Begin();
  const auto cancelled =
      Await<Video>([&](auto answer) { member_.service->Cancel({"t"}, done, std::move(answer)); });
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, VideoState::kSucceeded);
  const auto remove = [&](const Reach& reach) {
    return AwaitStatus(
        [&](auto answer) { member_.service->Delete(reach, done, std::move(answer)); });
  };
  EXPECT_EQ(ReasonOf(remove({"u"})), Reason::kVideoNotFound);
  EXPECT_TRUE(remove({"t"}).ok());
  EXPECT_FALSE(member_.StateOf(done).has_value());
}

TEST_F(FleetJoiningTest, PicturesComeAlong) {
  reel::testing::MemoryObjects shared;
  objects_ = &shared;
  const std::string id = Run(WithPicture(member_, "pixels"));
  Leave();
  member_.Begin();
  ASSERT_TRUE(Comes([&] {
    member_.Pass(kStep);
    return member_.pool.num_waiting() > 0;
  }));
  const Sent sent = member_.Take();
  EXPECT_EQ(sent.assignment.ref.job, id);
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  member_.Kill();
}

TEST_F(FleetJoiningTest, PicturesThatTheFleetHasNoPlaceForFailTheirVideo) {
  const std::string id = Run(WithPicture(member_, "pixels"));
  Leave();
  member_.Begin();
  const auto job = member_.Get(id);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->state(), VideoState::kFailed);
  EXPECT_EQ(ReasonOf((*job)->Snapshot().error), Reason::kInvalidSpec);
  EXPECT_EQ(member_.media->Usage().stored_bytes, 0);
}

TEST_F(FleetJoiningTest, APromotionWhoseDraftStaysBehindFails) {
  NewJob draft = member_.Request();
  draft.spec.preset = "twice";
  draft.spec.stop_after_pass = 1;
  const std::string source = Ask(std::move(draft));
  const Sent sent = member_.Take();
  member_.Report(sent, JobState{0, "latents"});
  member_.Media(sent, 0, "small");
  JobFinished finished;
  finished.media.size_bytes = 5;
  finished.state_size_bytes = 7;
  finished.state_sha256 = Sha256Hex("latents");
  member_.Report(sent, std::move(finished));
  ASSERT_TRUE(Comes([&] {
    Settle();
    return member_.StateOf(source) == VideoState::kSucceeded;
  }));
  NewJob promotion;
  promotion.tenant = "t";
  promotion.spec.source =
      model::Source{"videos/" + source, model::Source::Begin::kPromote, "", nullptr};
  const std::string id = Run(std::move(promotion));
  Leave();
  member_.Begin();
  const auto job = member_.Get(id);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(ReasonOf((*job)->Snapshot().error), Reason::kStateGone);
}

// As after a crash between the log and the row.
TEST_F(FleetJoiningTest, WhatIsInTheLogAlreadyIsLeftToTheFleet) {
  const std::string id = Run(member_.Request());
  Leave();
  const JobRow row = RowOf(id);
  member_.Begin();
  EXPECT_EQ(RenderToEnd(id), VideoState::kSucceeded);
  const size_t written = log_.subjects().size();
  Member again(log_, serializer_, "again");
  again.OpenStores();
  ASSERT_TRUE(AwaitStatus([&](auto done) { again.store->Create(row, std::move(done)); }).ok());
  again.Begin();
  EXPECT_EQ(log_.subjects().size(), written);
  EXPECT_EQ(again.StateOf(id), VideoState::kSucceeded);
}

TEST_F(FleetJoiningTest, WithoutTheLogNothingIsLostAndTheStartFails) {
  const std::string id = Run(member_.Request());
  Leave();
  const JobRow before = RowOf(id);
  FleetView view({"", "", nullptr});
  auto port = log_.Join(view);
  log_.Cut(*port);
  NodeOptions node;
  node.fleet = "prod";
  node.node = "old";
  const absl::Status brought =
      BringIntoFleet({*member_.store, *member_.media, serializer_}, node, nullptr, *port);
  EXPECT_TRUE(absl::IsUnavailable(brought)) << brought;
  EXPECT_EQ(RowOf(id).state, before.state);
  EXPECT_TRUE(log_.subjects().empty());
}

}  // namespace
}  // namespace reel::front
