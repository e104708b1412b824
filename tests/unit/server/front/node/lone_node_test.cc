// SPDX-License-Identifier: Apache-2.0
// A server that is alone, over a log of its own: it does at once what others would be waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/front/objects/file_store.h"
#include "server/front/store/sqlite.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class LoneNodeTest : public ::testing::Test {
 protected:
  LoneNodeTest() : member_(unused_, serializer_, "alone") {
    member_.has_own_log = true;
    Begin();
  }
  void Begin(bool with_worker = true) {
    member_.Kill();
    auto store = FileStore::Open(member_.folder.File("objects"), ops_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    member_.objects = store_.get();
    member_.Begin(with_worker, /*alone=*/false);
  }
  // Half a minute of real time at most; of the server's clock so much passes.
  template <typename Condition>
  bool ComesWithin(absl::Duration limit, Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (!condition() && absl::Now() < end) {
      const absl::Duration step = std::min(limit, kTick);
      limit -= step;
      member_.Pass(step);
      member_.Settle();
    }
    return condition();
  }
  template <typename Condition>
  bool ComesAtOnce(Condition condition) {
    return ComesWithin(absl::ZeroDuration(), condition);
  }
  // Asks for a video, and waits until a worker has it.
  JobPtr Run() {
    JobPtr job = member_.MustAsk(member_.Request());
    EXPECT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
    return job;
  }

  static constexpr absl::Duration kTick = absl::Milliseconds(100);

  LimitedDisk ops_;
  std::unique_ptr<FileStore> store_;
  reel::testing::MemoryLog unused_;
  reel::testing::MemorySerializer serializer_;
  Member member_;
};

TEST_F(LoneNodeTest, ClaimsAndEndsAVideoWhileNoTimePasses) {
  const JobPtr job = Run();
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(member_.StateOf(job->Snapshot().id), VideoState::kSucceeded);
}

TEST_F(LoneNodeTest, TakesBackItsOwnWithoutASilence) {
  const std::string id = Run()->Snapshot().id;
  member_.Progress(member_.Take(), model::Stage::kDenoise, 1);
  member_.Settle();
  Begin();
  ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.pool.num_waiting() > 0; }));
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ((*member_.Get(id))->attempt(), AttemptOf(2));
}

constexpr char kSeveralId[] = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";

TEST_F(LoneNodeTest, SeveralOfOneCallAreVideosOfTheirOwn) {
  const auto made = member_.AskAll(SeveralWithId(kSeveralId, 4));
  const std::vector<std::string> ids = IdsOf(made);
  ASSERT_EQ(ids.size(), 4U);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ((*made)[i]->Snapshot().spec.seed, 7 + i);
    EXPECT_EQ((*made)[i]->Snapshot().request_id, kSeveralId);
  }
  EXPECT_EQ(member_.service->view().state().position, 6U);  // r, q and four claims
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
    const Sent sent = member_.Take();
    EXPECT_EQ(std::count(ids.begin(), ids.end(), sent.assignment.ref.job), 1);
    member_.RunToEnd(sent);
  }
  for (const std::string& id : ids) {
    EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  }
}

TEST_F(LoneNodeTest, SeveralAreTheSameForTheSameRequestIdAlsoAfterARestart) {
  const NewJob job = SeveralWithId(kSeveralId, 4);
  const std::vector<std::string> ids = IdsOf(member_.AskAll(job));
  EXPECT_EQ(IdsOf(member_.AskAll(job)), ids);
  Begin();
  EXPECT_EQ(IdsOf(member_.AskAll(job)), ids);
  EXPECT_EQ(ReasonOf(member_.AskAll(SeveralWithId(kSeveralId, 3)).status()),
            Reason::kRequestIdConflict);
  EXPECT_EQ(ReasonOf(member_.Ask(SeveralWithId(kSeveralId, 1)).status()),
            Reason::kRequestIdConflict);
  ListQuery all;
  all.reach = {"t"};
  EXPECT_EQ(member_.Page(all).size(), 4U);
}

TEST_F(LoneNodeTest, OfSeveralARequestIdKeepsWhatIsNotRemoved) {
  const NewJob job = SeveralWithId(kSeveralId, 2);
  std::vector<std::string> ids = IdsOf(member_.AskAll(job));
  const auto cancel = [&](const std::string& id) {
    EXPECT_TRUE(
        Await<Video>([&](auto done) { member_.service->Cancel({"t"}, id, std::move(done)); }).ok());
    EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kCancelled; }));
  };
  cancel(ids[0]);
  EXPECT_EQ(IdsOf(member_.AskAll(job)), ids) << "the other may have a result yet";
  EXPECT_TRUE(AwaitStatus([&](auto done) {
                member_.service->Delete({"t"}, ids[0], std::move(done));
              }).ok());
  EXPECT_EQ(IdsOf(member_.AskAll(job)), std::vector<std::string>{ids[1]});
  cancel(ids[1]);
  const std::vector<std::string> next = IdsOf(member_.AskAll(job));
  EXPECT_EQ(next.size(), 2U) << "none has a result: the id is free";
  EXPECT_NE(next, ids);
}

TEST_F(LoneNodeTest, DeniesAnUnknownVideoAtOnceAndIsNoFleet) {
  EXPECT_EQ(ReasonOf(member_.Get("prod-0123456789abcdef").status()), Reason::kVideoNotFound);
  EXPECT_FALSE(member_.service->Fleet().has_value());
  EXPECT_EQ(member_.service->Problem(), "");
}

TEST_F(LoneNodeTest, TellsThatItsDiskIsFull) {
  ASSERT_TRUE(member_.service->view()
                  .Append([](Database& db, FleetView::Messages&) {
                    return db.Execute("PRAGMA max_page_count = 1");  // what there is
                  })
                  .ok());
  absl::Status refused;
  for (int i = 0; i < 500 && refused.ok(); ++i) refused = member_.Ask(member_.Request()).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kStoreFull) << refused;
}

// As with a disk that takes its time, and with a node that is at something else.
TEST_F(LoneNodeTest, RefusesWhileItsDiskAndItsThreadAreBusy) {
  member_.options.max_queued_jobs = 1;
  Begin(/*with_worker=*/false);
  const std::string known = member_.MustAsk(member_.Request())->Snapshot().id;
  auto other = *Database::OpenAgain(member_.folder.File("log.db"));
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  std::promise<void> held, goes_on;
  member_.service->Find({"t"}, known, [&](const auto&) {
    held.set_value();
    goes_on.get_future().wait();
  });
  held.get_future().wait();
  EXPECT_EQ(ReasonOf(member_.Ask(member_.Request()).status()), Reason::kQueueFull);
  const std::string request_id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
  EXPECT_EQ(ReasonOf(member_.Ask(RequestWithId(request_id)).status()), Reason::kQueueFull);
  goes_on.set_value();
  ASSERT_TRUE(other->Execute("COMMIT").ok());
}

TEST_F(LoneNodeTest, TellsWhoeverWaitsItsPlace) {
  Begin(/*with_worker=*/false);
  for (int ahead = 0; ahead < 4; ++ahead) {
    const JobPtr job = member_.MustAsk(member_.Request());
    EXPECT_EQ(job->Snapshot().state, VideoState::kQueued);
    EXPECT_EQ(job->Snapshot().progress.queue_position, ahead);
  }
}

// What is on its way into the log counts, and equal calls count once.
TEST_F(LoneNodeTest, LetsInNoMoreThanItsLimitHoweverManyAskAtOnce) {
  constexpr int kCallers = 8, kEach = 5, kPlaces = 3;
  member_.options.max_queued_jobs = kPlaces;
  Begin(/*with_worker=*/false);
  std::atomic<int> taken = 0, same = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      const std::string request_id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
      for (int i = 0; i < kEach; ++i) {
        same += member_.Ask(RequestWithId(request_id)).ok() ? 1 : 0;
        taken += member_.Ask(member_.Request()).ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ListQuery all;
  all.reach.everybodys = true;
  all.page_size = 100;
  EXPECT_EQ(member_.Page(all).size(), size_t{kPlaces});
  EXPECT_EQ(taken + (same > 0 ? 1 : 0), kPlaces);
  EXPECT_TRUE(same == 0 || same == kCallers * kEach) << same;
}

TEST_F(LoneNodeTest, ARestartIsNoNewAttemptOfWhatNoWorkerHasBegun) {
  const std::string runs = Run()->Snapshot().id;
  member_.Progress(member_.Take(), model::Stage::kDenoise, 1);
  member_.Settle();
  const std::string waits = member_.MustAsk(member_.Request())->Snapshot().id;
  for (int restart = 0; restart < 2; ++restart) {
    Begin(/*with_worker=*/false);
    ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.NumActive() == 2; }));
  }
  EXPECT_EQ(member_.StateOf(waits), VideoState::kQueued);
  EXPECT_EQ((*member_.Get(waits))->attempt(), 1);
  EXPECT_GT((*member_.Get(runs))->attempt(), 1);
}

// Others may have taken what a node of a fleet had.
TEST_F(LoneNodeTest, KeepsWhatItHasAfterAPause) {
  const JobPtr job = Run();
  member_.Pass(absl::Minutes(1));
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(job->attempt(), 1);
}

TEST_F(LoneNodeTest, AnswersARequestIdWithItsVideoAlsoAfterARestart) {
  const std::string request_id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
  const std::string id = member_.MustAsk(RequestWithId(request_id))->Snapshot().id;
  EXPECT_EQ(member_.MustAsk(RequestWithId(request_id))->Snapshot().id, id);
  Begin();
  EXPECT_EQ(member_.MustAsk(RequestWithId(request_id))->Snapshot().id, id);
  EXPECT_EQ(ReasonOf(member_.Ask(RequestWithId(request_id, "another")).status()),
            Reason::kRequestIdConflict);
}

TEST_F(LoneNodeTest, OfARequestIdTheTenantAndTheSpecCountAndNothingElse) {
  NewJob job = RequestWithId("6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d");
  const std::string id = member_.MustAsk(job)->Snapshot().id;
  job.priority = Priority::kHigh;
  job.timeout = absl::Seconds(99);
  job.labels = {{"a", "b"}};
  EXPECT_EQ(member_.MustAsk(job)->Snapshot().id, id);
  job.tenant = "u";
  EXPECT_NE(member_.MustAsk(job)->Snapshot().id, id);
}

// A reader that has found it in the view and comes to its file too late.
TEST_F(LoneNodeTest, AVideoWhoseFileIsGoneIsNotFoundAndNotElsewhere) {
  const JobPtr job = Run();
  member_.RunToEnd(member_.Take());
  ASSERT_TRUE(ComesAtOnce([&] { return IsFinal(job->state()); }));
  const std::string id = job->Snapshot().id;
  ASSERT_TRUE(member_.Get(id).ok());
  ASSERT_TRUE(member_.Delete(id).ok());
  EXPECT_EQ(ReasonOf(member_.Get(id).status()), Reason::kVideoNotFound);
}

// Also while an earlier reader goes on with the file that it has opened.
TEST_F(LoneNodeTest, ANewReaderOpensTheFileAnewAndHearsOfItsDamage) {
  const JobPtr earlier = Run();
  member_.RunToEnd(member_.Take(), "frames");
  ASSERT_TRUE(ComesAtOnce([&] { return IsFinal(earlier->state()); }));
  EXPECT_EQ(earlier->ReadMedia(0, 3)->bytes, "fra");
  const Video video = earlier->Snapshot();
  const std::string path =
      absl::StrCat(member_.folder.path(), "/media/", video.id, ".", video.attempt, ".mp4");
  ASSERT_TRUE(std::filesystem::remove(path)) << path;
  const auto found = member_.Get(video.id);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(ReasonOf((*found)->ReadMedia(0, 3).status()), Reason::kMediaCorrupt);
  const auto rest = earlier->ReadMedia(3, 10);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->bytes, "mes");
}

TEST_F(LoneNodeTest, AReaderThatHasBegunReadsOnAfterOthersCameAndTheVideoWasDeleted) {
  const JobPtr made = Run();
  member_.RunToEnd(member_.Take(), "frames");
  ASSERT_TRUE(ComesAtOnce([&] { return IsFinal(made->state()); }));
  const std::string id = made->Snapshot().id;
  Begin();  // so that nothing but the file has it
  ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.Get(id).ok(); }));
  const JobPtr reader = *member_.Get(id);
  EXPECT_EQ(reader->ReadMedia(0, 3)->bytes, "fra");
  ASSERT_TRUE(member_.Get(id).ok());
  ASSERT_TRUE(member_.Delete(id).ok());
  const auto rest = reader->ReadMedia(3, 10);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->bytes, "mes");
}

TEST_F(LoneNodeTest, AVideoEndsAsItsLastCallLeft) {
  const std::pair<LeaveReason, Reason> ends[] = {
      {LeaveReason::kCallerLeft, Reason::kOwnerLeft},
      {LeaveReason::kSlowReader, Reason::kOwnerLeft},
      {LeaveReason::kDeadline, Reason::kDeadlinePassed},
  };
  NewJob job = RequestWithId("6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d");
  job.bound = true;
  for (const auto& [left, ended] : ends) {
    const JobPtr first = member_.MustAsk(job);
    const std::string id = first->Snapshot().id;
    EXPECT_EQ(member_.MustAsk(job)->Snapshot().id, id);
    member_.service->Leave(id, LeaveReason::kCallerLeft);
    member_.Pass(kTick);
    EXPECT_FALSE(IsFinal(first->state()));
    member_.service->Leave(id, left);
    ASSERT_TRUE(ComesAtOnce([&] { return IsFinal(first->state()); }));
    EXPECT_EQ(ReasonOf(first->Snapshot().error), ended);
  }
}

TEST_F(LoneNodeTest, AVideoThatOneCallWantsForGoodOutlivesAllThatLeave) {
  NewJob bound = RequestWithId("6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d"), detached = bound;
  bound.bound = true;
  for (const bool was_bound : {true, false}) {
    bound.request_id.back() = detached.request_id.back() = was_bound ? '1' : '2';
    const JobPtr job = member_.MustAsk(was_bound ? bound : detached);
    const std::string id = job->Snapshot().id;
    if (was_bound) {
      member_.MustAsk(detached);
      member_.service->Leave(id, LeaveReason::kCallerLeft);
    }
    EXPECT_EQ(member_.MustAsk(bound)->Snapshot().id, id);
    member_.service->Leave(id, LeaveReason::kCallerLeft);
    member_.service->Leave("unknown", LeaveReason::kCallerLeft);
    member_.Pass(kTick);
    member_.Settle();
    EXPECT_FALSE(IsFinal(job->state())) << was_bound;
  }
}

TEST_F(LoneNodeTest, AFullDiskMakesNoVideoOfARequestWithPictures) {
  ops_.room = 2;
  const absl::Status refused = member_.Ask(WithPicture(member_, "pixels")).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kStoreFull) << refused;
  EXPECT_TRUE(ComesAtOnce([&] { return member_.NumActive() == 0; }));
  ops_.room = 1 << 20;
  EXPECT_TRUE(member_.Ask(WithPicture(member_, "pixels")).ok());
}

TEST_F(LoneNodeTest, KnowsARequestIdForADayBeyondItsVideo) {
  const NewJob job = RequestWithId("6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d");
  const std::string id = member_.MustAsk(job)->Snapshot().id;
  ASSERT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
  member_.RunToEnd(member_.Take());
  ASSERT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  FleetView& view = member_.service->view();
  const auto pass = [&](absl::Duration by) {
    member_.Pass(by);
    for (int tick = 0; tick < 10; ++tick) member_.Pass(kTick);
    member_.MustAsk(member_.Request());  // with each write goes what nobody can ask for
  };
  pass(member_.options.keep + absl::Hours(23));
  EXPECT_TRUE(view.FindVideo({"t", id}).has_value()) << "and so its request id is";
  EXPECT_EQ(ReasonOf(member_.Ask(job).status()), Reason::kVideoExpired);
  pass(absl::Hours(2));
  EXPECT_FALSE(view.FindVideo({"t", id}).has_value());
}

TEST_F(LoneNodeTest, KeepsPicturesInItsFolderAndResultsWhereTheyAre) {
  const std::string id = member_.MustAsk(WithPicture(member_, "pixels"))->Snapshot().id;
  ASSERT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
  member_.Take();
  Begin();
  ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.pool.num_waiting() > 0; }));
  const Sent sent = member_.Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  ASSERT_NE(sent.assignment.spec.conditions[0].bytes, nullptr);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  member_.RunToEnd(sent);
  EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ(store_->List("", "")->objects.size(), 1U);  // the picture
  EXPECT_TRUE((*member_.Get(id))->ReadMedia(0, 10).ok());
}

}  // namespace
}  // namespace reel::front
