// SPDX-License-Identifier: Apache-2.0
// Several servers that are one service, over a log in memory.
#include "server/front/node/fleet_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using FleetServiceTest = FleetFixture;

TEST_F(FleetServiceTest, AVideoIsRenderedOnceAndSeenEverywhere) {
  Member& a = Add("a");
  Member& b = Add("b");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  EXPECT_EQ(id.substr(0, 5), "prod-");
  Member* const runs = WhoRuns();
  Member& other = runs == &a ? b : a;
  runs->RunToEnd(runs->Take());
  EXPECT_TRUE(Comes([&] { return b.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(log_.Count(".c."), 1);
  EXPECT_EQ(log_.Count(".f.1"), 1);
  // The file is where it was rendered, and the other says where.
  EXPECT_EQ(ReadAll(**runs->Get(id)), "frames");
  const auto read = (*other.Get(id))->ReadMedia(0, 100);
  EXPECT_EQ(ReasonOf(read.status()), Reason::kWrongReplica) << read.status();
  EXPECT_NE(std::string(read.status().message()).find(":1"), std::string::npos);
}

TEST_F(FleetServiceTest, AStreamOfAVideoThatRunsHereHasAllOfItsEntries) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  Member* const runs = WhoRuns();
  runs->RunToEnd(runs->Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_TRUE(FindEntry<AcceptedEvent>(*job).has_value());
  EXPECT_TRUE(FindEntry<ProgressEvent>(*job).has_value());
  EXPECT_TRUE(FindEntry<FinishedEvent>(*job).has_value());
  EXPECT_EQ(ReadAll(*job), "frames");
}

TEST_F(FleetServiceTest, OneRequestIdAtAllServersIsOneVideo) {
  Member& a = Add("a");
  Member& b = Add("b");
  std::set<std::string> ids;
  Mutex mutex;
  std::vector<std::thread> callers;
  for (int i = 0; i < 20; ++i) {
    callers.emplace_back([&, i] {
      Member& at = i % 2 == 0 ? a : b;
      JobPtr job = at.MustAsk(RequestWithId("8c5b0f60-0000-4000-8000-000000000001"));
      const MutexLock lock(mutex);
      ids.insert(job->Snapshot().id);
    });
  }
  // A binding that waits for its video is looked at again as time passes.
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(log_.Count(".q"), 1);
  // Of one server's callers one alone has tried.
  EXPECT_LE(log_.lost(), 2);
  const auto other = b.Ask(RequestWithId("8c5b0f60-0000-4000-8000-000000000001", "a blue fox"));
  EXPECT_EQ(ReasonOf(other.status()), Reason::kRequestIdConflict) << other.status();
}

TEST_F(FleetServiceTest, WhoeverFindsABindingWithoutItsVideoWritesThat) {
  Member& a = Add("a", false);
  const NewJob job = RequestWithId("8c5b0f60-0000-4000-8000-000000000002");
  // A server that died between the two.
  a.MustAsk(RequestWithId("8c5b0f60-0000-4000-8000-000000000003"));
  FleetView view;
  const auto port = log_.Join(view);
  const std::string spec_hash =
      view.FindBinding("t", "8c5b0f60-0000-4000-8000-000000000003")->spec_hash;
  ASSERT_TRUE(log_.Append("j.t.8c5b0f60-0000-4000-8000-000000000002.r.1",
                          WriteBinding({"prod-halfwritten", spec_hash})));
  reel::testing::Promised<absl::StatusOr<JobPtr>> made;
  a.service->Create(job, [&](auto answer) { made.Give(std::move(answer)); });
  ASSERT_TRUE(Comes([&] { return log_.Count("prod-halfwritten.q") == 1; }));
  EXPECT_EQ((**made.Take())->Snapshot().id, "prod-halfwritten");
}

TEST_F(FleetServiceTest, ASilentServersVideosAreTakenOverAndItsEndIsVoid) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  const Sent first = WhoRuns()->Take();
  Member& b = Add("b");
  Pass(absl::Seconds(1));
  EXPECT_EQ(b.StateOf(id), VideoState::kRunning);
  log_.Cut(*a.port);
  // Not before it has been silent for long.
  Pass(absl::Seconds(4));
  EXPECT_EQ(b.pool.num_waiting(), 0);
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  const Sent second = b.Take();
  EXPECT_EQ(second.assignment.ref.attempt, AttemptOf(2));
  // The first one ends it, too, and is heard when it is back.
  a.RunToEnd(first, "others");
  Pass(absl::Seconds(1));
  log_.Mend(*a.port);
  Pass(absl::Seconds(1));
  EXPECT_NE(job->state(), VideoState::kSucceeded);
  b.RunToEnd(second);
  EXPECT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ(ReadAll(**b.Get(id)), "frames");
  // Who watched at the first hears of the change.
  EXPECT_TRUE(FindEntry<RestartedEvent>(*job).has_value());
  EXPECT_TRUE(FindEntry<FinishedEvent>(*job).has_value());
  EXPECT_TRUE(Comes([&] { return a.NumActive() == 0; }));
}

TEST_F(FleetServiceTest, WhoIsCutOffForTheLeaseStopsAndGivesBack) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  const Sent sent = WhoRuns()->Take();
  log_.Cut(*a.port);
  Pass(absl::Seconds(14));
  EXPECT_TRUE(a.pool.cancelled().empty());
  ASSERT_TRUE(Comes([&] { return a.pool.cancelled().size() == 1; }));
  a.CancelledAtWorker(sent);
  log_.Mend(*a.port);
  EXPECT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  // It is the first that may take it again.
  EXPECT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_EQ(log_.Count(".c.2"), 1);
}

TEST_F(FleetServiceTest, WhoSleptLongerThanTheLeaseStops) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  WhoRuns()->Take();
  a.Pass(absl::Seconds(16));
  EXPECT_TRUE(Comes([&] { return a.pool.cancelled().size() == 1; }));
}

TEST_F(FleetServiceTest, AfterARestartWhatAnEarlierProcessHadGoesBack) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  WhoRuns()->Take();
  a.Begin();
  // Not at once: another process of this name may still be alive.
  Pass(absl::Seconds(3));
  EXPECT_EQ(log_.Count(".f.1"), 0);
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_EQ(log_.Count(".f.1"), 1);
  a.RunToEnd(a.Take());
  EXPECT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
}

TEST_F(FleetServiceTest, ADrainGivesBackWhatIsNotDone) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  WhoRuns()->Take();
  Member& b = Add("b");
  std::atomic<bool> drained = false;
  a.service->Drain(absl::ZeroDuration(), absl::ZeroDuration(), [&] { drained = true; });
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  EXPECT_TRUE(Comes([&] { return drained.load(); }));
  EXPECT_EQ(log_.Count(".f.1"), 1);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Comes([&] { return b.StateOf(id) == VideoState::kSucceeded; }));
  const auto refused = a.Ask(a.Request());
  EXPECT_EQ(ReasonOf(refused.status()), Reason::kServerDraining) << refused.status();
}

TEST_F(FleetServiceTest, ACancelAnywhereEndsWhatWaitsAndWhatRuns) {
  Member& gateway = Add("gateway", false);
  const std::string waits = gateway.MustAsk(gateway.Request())->Snapshot().id;
  auto cancel = [](Member& at, const std::string& id) {
    return Await<Video>([&](auto done) { at.service->Cancel({"t"}, id, std::move(done)); });
  };
  EXPECT_EQ(cancel(gateway, waits)->state, VideoState::kQueued);
  EXPECT_EQ(gateway.StateOf(waits), VideoState::kCancelled);
  EXPECT_EQ(ReasonOf((*gateway.Get(waits))->Snapshot().error), Reason::kCancelledByOwner);

  Member& b = Add("b");
  JobPtr job = gateway.MustAsk(gateway.Request());
  const std::string runs = job->Snapshot().id;
  const Sent sent = WhoRuns()->Take();
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kRunning; }));
  EXPECT_TRUE(cancel(gateway, runs).ok());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kCancelled; }));
  EXPECT_EQ(b.pool.cancelled(), std::vector<std::string>{runs});
  EXPECT_EQ(log_.Count(runs + ".f.1"), 1);
  // Another's is as unknown as one that never was.
  EXPECT_EQ(ReasonOf(gateway.Get(runs, {"u"}).status()), Reason::kVideoNotFound);
}

TEST_F(FleetServiceTest, AVideoGoesWithTheLastCallThatItDependsOn) {
  Member& gateway = Add("gateway", false);
  NewJob bound = gateway.Request();
  bound.bound = true;
  const std::string id = gateway.MustAsk(bound)->Snapshot().id;
  gateway.service->Leave(id, LeaveReason::kCallerLeft);
  EXPECT_TRUE(Comes([&] { return gateway.StateOf(id) == VideoState::kCancelled; }));
  EXPECT_EQ(ReasonOf((*gateway.Get(id))->Snapshot().error), Reason::kOwnerLeft);
}

TEST_F(FleetServiceTest, AVideoIsRenderedWhereItsCallerWaitsForItsBytes) {
  Member& a = Add("a");
  Member& b = Add("b");
  NewJob bound = b.Request();
  bound.bound = true;
  for (int i = 0; i < 6; ++i) {
    JobPtr job = b.MustAsk(bound);
    ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
    b.RunToEnd(b.Take());
    ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
    EXPECT_EQ(ReadAll(*job), "frames");
  }
  EXPECT_EQ(a.pool.num_waiting(), 0);
  // One that dies leaves it to others: b runs one and holds the next, so this one waits.
  Pass(absl::Seconds(1));
  b.MustAsk(bound);
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  b.Progress(b.Take(), model::Stage::kDenoise, 1);
  b.MustAsk(bound);
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  const std::string id = b.MustAsk(bound)->Snapshot().id;
  Pass(absl::Seconds(2));
  EXPECT_EQ(a.StateOf(id), VideoState::kQueued);
  b.Kill();
  EXPECT_TRUE(Comes([&] { return a.pool.num_waiting() > 0; }));
}

// Each holds one more than it runs, so that all may claim what comes.
TEST_F(FleetServiceTest, BusyServersDoNotRaceForWhatComes) {
  Member& gateway = Add("gateway", false);
  std::vector<Member*> servers;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) servers.push_back(&Add(name));
  Pass(absl::Seconds(1));
  for (size_t i = 0; i < servers.size(); ++i) {
    gateway.MustAsk(gateway.Request());
    Member* const runs = WhoRuns();
    ASSERT_NE(runs, nullptr);
    runs->Progress(runs->Take(), model::Stage::kDenoise, 1);
    Pass(absl::Seconds(1));
  }
  const int lost_before = log_.lost();
  const int claims_before = log_.Count(".c.");
  for (int i = 1; i <= 4; ++i) {
    gateway.MustAsk(gateway.Request());
    // In steps that are far shorter than a turn.
    const auto is_claimed = [&] { return log_.Count(".c.") == claims_before + i; };
    for (const absl::Time end = absl::Now() + absl::Seconds(30);
         !is_claimed() && absl::Now() < end;) {
      for (Member* const server : servers) server->Pass(absl::Milliseconds(5));
    }
    ASSERT_TRUE(is_claimed());
  }
  // All that could would write each time: 14 in vain.
  EXPECT_EQ(log_.lost() - lost_before, 0);
}

TEST_F(FleetServiceTest, ATenantWithLessPassesWhatWaitsOfAnother) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  a.Progress(a.Take(), model::Stage::kDenoise, 1);
  a.MustAsk(a.Request());
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  // One runs, one is next: the third waits for all to see, and another tenant's does not.
  const std::string third = a.MustAsk(a.Request())->Snapshot().id;
  NewJob other = a.Request("other");
  other.tenant = "u";
  a.MustAsk(other);
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 2; }));
  a.MustAsk(other);
  Pass(absl::Seconds(2));
  EXPECT_EQ(log_.Count(".c."), 3);
  EXPECT_EQ(a.StateOf(third), VideoState::kQueued);
}

TEST_F(FleetServiceTest, AServerThatCannotRenderKeepsNothingForItself) {
  Member& gateway = Add("gateway", false);
  Member& a = Add("a");
  NewJob bound = gateway.Request();
  bound.bound = true;
  gateway.MustAsk(bound);
  EXPECT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
}

TEST_F(FleetServiceTest, WhatNobodyRunsEndsAtItsDeadline) {
  Member& gateway = Add("gateway", false);
  NewJob job = gateway.Request();
  job.timeout = absl::Seconds(20);
  const std::string id = gateway.MustAsk(job)->Snapshot().id;
  Pass(absl::Seconds(18));
  EXPECT_EQ(gateway.StateOf(id), VideoState::kQueued);
  EXPECT_TRUE(Comes([&] { return gateway.StateOf(id) == VideoState::kFailed; }));
  EXPECT_EQ(ReasonOf((*gateway.Get(id))->Snapshot().error), Reason::kDeadlinePassed);
}

TEST_F(FleetServiceTest, WithoutItsLogAServerTakesNothing) {
  Member& a = Add("a");
  log_.Cut(*a.port);
  const auto refused = a.Ask(a.Request());
  EXPECT_EQ(ReasonOf(refused.status()), Reason::kFleetUnavailable) << refused.status();
  EXPECT_FALSE(a.service->admitting());
  EXPECT_NE(a.service->Problem(), "");
  log_.Mend(*a.port);
  EXPECT_TRUE(a.service->admitting());
  EXPECT_EQ(a.service->Problem(), "");
  EXPECT_TRUE(a.Ask(a.Request()).ok());
}

TEST_F(FleetServiceTest, AnAnswerThatIsLostCostsNothing) {
  Member& a = Add("a");
  for (const std::string ending : {".q", ".c.1", ".f.1"}) {
    log_.ForgetAnswersOf(ending);
    JobPtr job = a.MustAsk(a.Request());
    ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; })) << ending;
    a.RunToEnd(a.Take());
    EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; })) << ending;
  }
  EXPECT_EQ(log_.Count(".q"), 3);
  EXPECT_EQ(log_.Count(".c."), 3);
}

TEST_F(FleetServiceTest, ListsAndDeletesAtAnyServer) {
  Member& a = Add("a");
  Member& gateway = Add("gateway", false);
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    a.clock.Advance(absl::Seconds(1));
    ids.insert(ids.begin(), a.MustAsk(a.Request())->Snapshot().id);
  }
  ListQuery query;
  query.reach.tenant = "t";
  EXPECT_TRUE(Comes([&] { return gateway.Page(query) == ids; }));
  EXPECT_EQ(a.Page(query), ids);
  query.page_size = 2;
  EXPECT_EQ(gateway.Page(query), std::vector<std::string>(ids.begin(), ids.begin() + 2));
  query.before_id = ids[1];
  query.before_time = (*gateway.Get(ids[1]))->Snapshot().create_time;
  EXPECT_EQ(gateway.Page(query), std::vector<std::string>(ids.begin() + 2, ids.begin() + 4));
  // The other way round, behind the same one.
  query.oldest_first = true;
  EXPECT_EQ(gateway.Page(query), std::vector<std::string>({ids[0]}));
  query.before_id = "";
  EXPECT_EQ(gateway.Page(query), std::vector<std::string>({ids[4], ids[3]}));

  const auto remove = [&](const std::string& id) {
    return AwaitStatus([&](auto done) { gateway.service->Delete({"t"}, id, std::move(done)); });
  };
  const Sent sent = a.Take();
  const std::string done = sent.assignment.ref.job;
  EXPECT_EQ(ReasonOf(remove(done)), Reason::kVideoNotFinal);
  a.RunToEnd(sent);
  ASSERT_TRUE(Comes([&] { return gateway.StateOf(done) == VideoState::kSucceeded; }));
  EXPECT_TRUE(remove(done).ok());
  EXPECT_EQ(ReasonOf(a.Get(done).status()), Reason::kVideoNotFound);
  // Its file is gone where it was, too.
  EXPECT_TRUE(Comes([&] { return !a.Find(done).ok(); }));
}

}  // namespace
}  // namespace reel::front
