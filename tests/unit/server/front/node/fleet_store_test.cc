// SPDX-License-Identifier: Apache-2.0
// Servers of a fleet with a store for what all of them are to have.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/node/fleet_service.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class FleetStoreTest : public FleetFixture {
 protected:
  FleetStoreTest() { objects_ = &store_; }
  ~FleetStoreTest() override { members_.clear(); }

  // From the store, which is far away.
  absl::StatusOr<std::string> ReadStored(const Job& job) {
    std::string bytes;
    absl::Status error;
    const bool read = Comes([&] {
      if (!error.ok()) return true;
      while (static_cast<int64_t>(bytes.size()) < job.media_size()) {
        const auto piece = job.ReadMedia(static_cast<int64_t>(bytes.size()), 4);
        error = piece.status();
        if (!piece.ok()) return true;
        if (piece->pending) return false;
        bytes += piece->bytes;
      }
      return true;
    });
    if (!read) return absl::DeadlineExceededError("it did not come");
    if (!error.ok()) return error;
    return bytes;
  }
  // Whose view may be behind those of others.
  bool Succeeds(Member& at, const std::string& id) {
    return Comes([&] {
      const auto job = at.Get(id);
      return job.ok() && (*job)->state() == VideoState::kSucceeded;
    });
  }
  // Its one result was tried in vain.
  bool OneWaits(Member& at) {
    return Comes([&] {
      const std::string problem = at.service->Problem();
      return problem.find("; results that wait for the object store: 1") != std::string::npos;
    });
  }
  static std::string KeyOf(const std::string& id, int epoch) {
    return absl::StrCat("prod/media/t/", id, "/", epoch, ".mp4");
  }

  reel::testing::MemoryObjects store_;
};

TEST_F(FleetStoreTest, AResultIsInTheStoreBeforeItsEndIsInTheLog) {
  std::atomic<int> ends_before = -1;
  store_.OnPut([&](const std::string&) { ends_before = log_.Count(".f."); });
  Member& a = Add("a");
  Add("gateway", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(ends_before, 0);
  EXPECT_EQ(log_.Count(".f.1"), 1);
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(id, 1), "frames"}}));
}

TEST_F(FleetStoreTest, AnyServerGivesAResultAfterItsServerIsGone) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  a.Kill();
  Member& late = Add("late", false);
  ASSERT_TRUE(Succeeds(late, id));
  const JobPtr job = *late.Get(id);
  EXPECT_EQ(job->media_size(), 6);
  const auto read = ReadStored(*job);
  EXPECT_EQ(read.ok() ? *read : read.status().ToString(), "frames");
  EXPECT_EQ(store_.gets(), 1);
  EXPECT_EQ(ReasonOf(job->ReadMedia(7, 1).status()), Reason::kOffsetPastEnd);
  EXPECT_TRUE(job->ReadMedia(0, 100)->fragment_end);
  EXPECT_FALSE(job->ReadMedia(0, 3)->fragment_end);
}

TEST_F(FleetStoreTest, AServerThatHasLostItsFolderGivesItsResultsFromTheStore) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  ASSERT_TRUE(a.Delete(id).ok());  // its row and file, which nobody asked for
  const auto job = a.Get(id);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto read = ReadStored(**job);
  EXPECT_EQ(read.ok() ? *read : read.status().ToString(), "frames");
}

TEST_F(FleetStoreTest, WhileTheStoreIsAwayNothingEndsAndNothingIsLost) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  store_.FailWith(absl::UnavailableError("The object store cannot be reached"));
  a.RunToEnd(a.Take());
  ASSERT_TRUE(OneWaits(a));
  Pass(absl::Seconds(20));
  EXPECT_EQ(log_.Count(".f."), 0);
  EXPECT_EQ(a.StateOf(id), VideoState::kRunning);
  EXPECT_EQ(
      a.service->Problem(),
      "fleet: The object store cannot be reached; results that wait for the object store: 1\n");
  EXPECT_TRUE(a.service->admitting());
  // Others go on.
  const std::string other = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  Pass(absl::Seconds(1));
  store_.FailWith(absl::OkStatus());
  EXPECT_TRUE(Succeeds(a, id));
  EXPECT_TRUE(Succeeds(a, other));
  EXPECT_EQ(a.service->Problem(), "");
  EXPECT_EQ(log_.Count(".c."), 2);
  EXPECT_EQ(store_.All().size(), 2U);
}

TEST_F(FleetStoreTest, NothingMoreIsRenderedThanMayWait) {
  deliver_backlog_ = 1;
  Member& a = Add("a");
  store_.FailWith(absl::PermissionDeniedError("The object store refuses the credentials"));
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] { return !a.service->admitting(); }));
  EXPECT_NE(a.service->Problem().find("nothing more is rendered here"), std::string::npos);
  Member& gateway = Add("gateway", false);
  const std::string waits = gateway.MustAsk(gateway.Request())->Snapshot().id;
  Pass(absl::Seconds(5));
  EXPECT_EQ(log_.Count(".c."), 1);
  EXPECT_EQ(gateway.StateOf(waits), VideoState::kQueued);
  store_.FailWith(absl::OkStatus());
  EXPECT_TRUE(Succeeds(gateway, id));
  EXPECT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_TRUE(a.service->admitting());
}

TEST_F(FleetStoreTest, ADrainLeavesWhatWaitsForTheStoreToTheNextProcess) {
  Member& a = Add("a");
  store_.FailWith(absl::UnavailableError("away"));
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(OneWaits(a));
  std::atomic<bool> drained = false;
  a.service->Drain(absl::ZeroDuration(), absl::Seconds(1), [&] { drained = true; });
  ASSERT_TRUE(Comes([&] { return drained.load(); }));
  EXPECT_EQ(log_.Count(".f."), 0);
  store_.FailWith(absl::OkStatus());
  a.Begin();
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(log_.Count(".c."), 1);
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(id, 1), "frames"}}));
}

TEST_F(FleetStoreTest, WhatADrainedServerLeftIsRenderedByAnotherIfItDoesNotComeBack) {
  Member& a = Add("a");
  store_.FailWith(absl::UnavailableError("away"));
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(OneWaits(a));
  std::atomic<bool> drained = false;
  a.service->Drain(absl::ZeroDuration(), absl::Seconds(1), [&] { drained = true; });
  ASSERT_TRUE(Comes([&] { return drained.load(); }));
  a.Kill();
  store_.FailWith(absl::OkStatus());
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  b.RunToEnd(b.Take());
  ASSERT_TRUE(Succeeds(b, id));
  EXPECT_EQ(store_.All().count(KeyOf(id, 2)), 1U);
  // When it does, what it had left goes.
  a.Begin();
  EXPECT_TRUE(Comes([&] { return !a.Find(id).ok(); }));
  EXPECT_EQ(ReadStored(**a.Get(id)).value_or(""), "frames");
}

TEST_F(FleetStoreTest, WhatWaitedWhenAServerDiedIsDeliveredByTheNextProcess) {
  Member& a = Add("a");
  store_.FailWith(absl::UnavailableError("away"));
  const JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(OneWaits(a));
  a.Begin();
  // Who looks meanwhile hears that it is not done.
  ASSERT_TRUE(OneWaits(a));
  const JobPtr watched = *a.Get(id);
  EXPECT_EQ(watched->state(), VideoState::kRunning);
  store_.FailWith(absl::OkStatus());
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(a.pool.num_waiting(), 0);
  EXPECT_EQ(log_.Count(".c."), 1);
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(id, 1), "frames"}}));
  EXPECT_TRUE(FindEntry<FinishedEvent>(*watched).has_value());
  EXPECT_FALSE(FindEntry<RestartedEvent>(*watched).has_value());
  EXPECT_EQ(ReadAll(*watched), "frames");
}

TEST_F(FleetStoreTest, AResultThatIsAnothersByNowIsNotBrought) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  const Sent first = a.Take();
  Member& b = Add("b");
  Pass(absl::Seconds(1));
  store_.FailWith(absl::UnavailableError("away"));
  a.RunToEnd(first, "late");
  ASSERT_TRUE(OneWaits(a));
  log_.Cut(*a.port);
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  b.RunToEnd(b.Take());
  log_.Mend(*a.port);
  EXPECT_TRUE(Comes([&] { return a.NumActive() == 0; }));
  store_.FailWith(absl::OkStatus());
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(id, 2), "frames"}}));
  EXPECT_EQ(log_.Count(".f.1"), 0);
}

TEST_F(FleetStoreTest, AResultThatCanNeverBeBroughtIsRenderedAgain) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  const Sent first = a.Take();
  store_.Place(KeyOf(id, 1), "of somebody else", absl::Now());
  a.RunToEnd(first);
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_EQ(log_.Count(".c.2"), 1);
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(store_.All()[KeyOf(id, 2)], "frames");
}

TEST_F(FleetStoreTest, WhatTheStoreHasLostIsSaidToBeDamaged) {
  Member& a = Add("a");
  Member& gateway = Add("gateway", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(gateway, id));
  store_.FailWith(absl::UnavailableError("away"));
  const JobPtr job = *gateway.Get(id);
  EXPECT_EQ(ReasonOf(ReadStored(*job).status()), Reason::kFleetUnavailable);
  store_.FailWith(absl::OkStatus());
  ASSERT_TRUE(store_.Delete(KeyOf(id, 1)).ok());
  EXPECT_EQ(ReasonOf(ReadStored(*job).status()), Reason::kMediaCorrupt);
}

std::string PictureKey(const std::string& bytes) { return "prod/conditions/t/" + Sha256Hex(bytes); }

TEST_F(FleetStoreTest, WhatARequestComesWithReachesWhoRendersIt) {
  std::atomic<int> requests_before = -1;
  store_.OnPut([&](const std::string&) { requests_before = log_.Count(".q"); });
  Member& gateway = Add("gateway", false);
  const std::string id = gateway.MustAsk(WithPicture(gateway, "pixels"))->Snapshot().id;
  EXPECT_EQ(requests_before, 0);
  EXPECT_EQ(store_.All()[PictureKey("pixels")], "pixels");
  Member& b = Add("b");
  ASSERT_EQ(WhoRuns(), &b);
  const Sent sent = b.Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  ASSERT_NE(sent.assignment.spec.conditions[0].bytes, nullptr);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  store_.OnPut(nullptr);
  b.RunToEnd(sent);
  EXPECT_TRUE(Succeeds(gateway, id));
}

TEST_F(FleetStoreTest, WithoutTheStoreAConditionIsNotTakenAndAClaimedOneWaits) {
  Member& gateway = Add("gateway", false);
  store_.FailWith(absl::UnavailableError("away"));
  const auto refused = gateway.Ask(WithPicture(gateway, "pixels"));
  EXPECT_EQ(ReasonOf(refused.status()), Reason::kFleetUnavailable) << refused.status();
  EXPECT_EQ(log_.Count(".q"), 0);
  store_.FailWith(absl::OkStatus());
  const std::string id = gateway.MustAsk(WithPicture(gateway, "pixels"))->Snapshot().id;
  store_.FailWith(absl::UnavailableError("away"));
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return log_.Count(".c.1") == 1; }));
  Pass(absl::Seconds(3));
  EXPECT_EQ(b.pool.num_waiting(), 0);
  store_.FailWith(absl::OkStatus());
  ASSERT_EQ(WhoRuns(), &b);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Succeeds(gateway, id));
}

TEST_F(FleetStoreTest, AConditionThatIsLostOrAnotherEndsItsVideo) {
  Member& gateway = Add("gateway", false);
  const std::string lost = gateway.MustAsk(WithPicture(gateway, "lost"))->Snapshot().id;
  const std::string other = gateway.MustAsk(WithPicture(gateway, "other"))->Snapshot().id;
  ASSERT_TRUE(store_.Delete(PictureKey("lost")).ok());
  store_.Place(PictureKey("other"), "OTHER", absl::Now());
  Add("b");
  for (const std::string& id : {lost, other}) {
    ASSERT_TRUE(Comes([&] { return gateway.StateOf(id) == VideoState::kFailed; }));
    EXPECT_EQ(ReasonOf((*gateway.Get(id))->Snapshot().error), Reason::kInternal);
  }
}

TEST_F(FleetStoreTest, ACancelEndsWhatWaitsForItsConditions) {
  Member& gateway = Add("gateway", false);
  const std::string id = gateway.MustAsk(WithPicture(gateway, "pixels"))->Snapshot().id;
  store_.FailWith(absl::UnavailableError("away"));
  Add("b");
  ASSERT_TRUE(Comes([&] { return log_.Count(".c.1") == 1; }));
  Pass(absl::Seconds(2));
  EXPECT_TRUE(
      Await<Video>([&](auto done) { gateway.service->Cancel({"t"}, id, std::move(done)); }).ok());
  EXPECT_TRUE(Comes([&] { return gateway.StateOf(id) == VideoState::kCancelled; }));
}

TEST_F(FleetStoreTest, AnExpiredResultGoesFromTheStore) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  a.clock.JumpWall(absl::Hours(23));
  Pass(Member::kSweep + absl::Seconds(10));
  EXPECT_EQ(store_.All().size(), 1U);
  a.clock.JumpWall(absl::Hours(1));
  Pass(Member::kSweep);
  EXPECT_TRUE(Comes([&] { return store_.All().empty(); }));
}

TEST_F(FleetStoreTest, WhatNobodyCanAskForGoesFromTheStore) {
  Member& a = Add("a");
  Add("b", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  const absl::Time now = a.clock.Wall();
  const auto place = [&](const std::string& key, absl::Duration age) {
    store_.Place(key, "x", now - age);
  };
  place(KeyOf(id, 2), absl::Hours(25));  // an epoch that did not count
  place(KeyOf(id, 3), absl::Hours(23));  // perhaps on its way
  place(KeyOf("prod-unknown", 1), absl::Hours(25));
  place(KeyOf("prod-forgotten", 1), absl::Hours(9 * 24));
  place("prod/conditions/t/old", absl::Hours(25));
  place("prod/conditions/t/new", absl::Hours(23));
  place("test/media/t/prod-other/1.mp4", absl::Hours(1000));
  place("prod/elsewhere", absl::Hours(1000));
  const auto keys = [&] {
    std::set<std::string> all;
    for (const auto& [key, bytes] : store_.All()) all.insert(key);
    return all;
  };
  std::set<std::string> left = {KeyOf(id, 1),
                                KeyOf(id, 3),
                                KeyOf("prod-unknown", 1),
                                "prod/conditions/t/new",
                                "test/media/t/prod-other/1.mp4",
                                "prod/elsewhere"};
  // A server that slept is one that may have been replaced; time goes on in steps.
  Pass(Member::kSweep);
  EXPECT_TRUE(Comes([&] { return keys() == left; })) << ::testing::PrintToString(keys());
  // What is deleted goes at once.
  EXPECT_TRUE(AwaitStatus([&](auto done) { a.service->Delete({"t"}, id, std::move(done)); }).ok());
  left.erase(KeyOf(id, 1));
  const absl::Duration before = a.clock.Monotonic();
  EXPECT_TRUE(Comes([&] { return keys() == left; })) << ::testing::PrintToString(keys());
  EXPECT_LT(a.clock.Monotonic() - before, Member::kSweep * 0.8);
}

}  // namespace
}  // namespace reel::front
