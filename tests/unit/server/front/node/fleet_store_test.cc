// SPDX-License-Identifier: Apache-2.0
// Servers of a fleet with a store for what all of them are to have.
#include <gtest/gtest.h>

#include <atomic>

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
  bool Succeeds(Member& at, const std::string& id) {
    return Comes([&] { return at.StateOf(id) == VideoState::kSucceeded; });
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

TEST_F(FleetStoreTest, WhileTheStoreIsAwayNothingEndsAndNothingIsLost) {
  Member& a = Add("a");
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  store_.FailWith(absl::UnavailableError("The object store cannot be reached"));
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] { return !a.service->Problem().empty(); }));
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

TEST_F(FleetStoreTest, ADrainGivesBackWhatWaitsForTheStore) {
  Member& a = Add("a");
  store_.FailWith(absl::UnavailableError("away"));
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] { return !a.service->Problem().empty(); }));
  std::atomic<bool> drained = false;
  a.service->Drain(absl::ZeroDuration(), absl::Seconds(1), [&] { drained = true; });
  ASSERT_TRUE(Comes([&] { return drained.load(); }));
  EXPECT_EQ(log_.Count(".f.1"), 1);
  store_.FailWith(absl::OkStatus());
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  b.RunToEnd(b.Take());
  ASSERT_TRUE(Succeeds(b, id));
  EXPECT_EQ(store_.All().count(KeyOf(id, 2)), 1U);
}

TEST_F(FleetStoreTest, WhatWaitedWhenAServerDiedIsRenderedAgain) {
  Member& a = Add("a");
  store_.FailWith(absl::UnavailableError("away"));
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] { return !a.service->Problem().empty(); }));
  a.Begin();
  store_.FailWith(absl::OkStatus());
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(a, id));
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(id, 2), "frames"}}));
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

}  // namespace
}  // namespace reel::front
