// SPDX-License-Identifier: Apache-2.0
// A server that is started again and goes on from the view that it has kept.
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class KeptViewTest : public FleetFixture {
 protected:
  std::string Render(Member& member) {
    const JobPtr job = member.MustAsk(member.Request());
    member.RunToEnd(WhoRuns()->Take());
    EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
    return job->Snapshot().id;
  }
  // What a process that has only been made knows.
  static uint64_t PositionOf(Member& member) {
    return FleetView({member.folder.File("fleet.db"), "", nullptr}).Start().position;
  }
};

TEST_F(KeptViewTest, ARestartReadsOnlyWhatIsNew) {
  Member& a = Add("a");
  Member& b = Add("b", false);
  const std::string before = Render(a);
  const uint64_t read = log_.subjects().size();
  b.Kill();
  EXPECT_EQ(PositionOf(b), read);
  const std::string meanwhile = Render(a);
  b.Begin(false);
  EXPECT_EQ(b.StateOf(before), VideoState::kSucceeded);
  EXPECT_EQ(b.StateOf(meanwhile), VideoState::kSucceeded);
  ListQuery query;
  query.reach = {"t"};
  query.page_size = 10;
  EXPECT_EQ(b.Page(query), (std::vector<std::string>{meanwhile, before}));
  query.states = {VideoState::kFailed};
  EXPECT_TRUE(b.Page(query).empty());
}

TEST_F(KeptViewTest, WhatWaitedBeforeARestartIsClaimedAfterIt) {
  Member& a = Add("a", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.Begin();
  Member* const runs = WhoRuns();
  ASSERT_EQ(runs, &a);
  a.RunToEnd(a.Take());
  EXPECT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ(log_.Count(".c.1"), 1);
}

// Where there is no store of objects.
TEST_F(KeptViewTest, ARequestIdOfAFinishedVideoComesWithTheFileThatIsHere) {
  const std::string request_id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
  Member& a = Add("a");
  const JobPtr job = a.MustAsk(RequestWithId(request_id));
  a.RunToEnd(WhoRuns()->Take());
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  a.Begin();
  const JobPtr again = a.MustAsk(RequestWithId(request_id));
  ASSERT_EQ(again->Snapshot().id, job->Snapshot().id);
  const auto piece = again->ReadMedia(0, 1 << 20);
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_EQ(std::ssize(piece->bytes), again->Snapshot().media.size_bytes);
}

TEST_F(KeptViewTest, ADeletionThatWasReadBeforeARestartFreesTheDiskAfterIt) {
  Member& a = Add("a");
  const std::string id = Render(a);
  a.Kill();
  ASSERT_TRUE(log_.Append("j.t." + id + ".d", WriteDeletion()));
  {
    // An earlier process has read so far, and was killed.
    FleetView view({a.folder.File("fleet.db"), "", nullptr});
    const auto port = log_.Join(view);
    ASSERT_TRUE(view.Find("t", id)->deleted);
  }
  const std::string file = a.media->PathOf(id, 1);
  a.Begin();
  EXPECT_TRUE(Comes([&] { return !std::filesystem::exists(file); }));
  EXPECT_EQ(ReasonOf(a.Get(id).status()), Reason::kVideoNotFound);
}

TEST_F(KeptViewTest, OtherKeysReadTheLogAgain) {
  Member& a = Add("a");
  const std::string id = Render(a);
  a.Kill();
  EXPECT_GT(PositionOf(a), 0U);
  a.seal = Seal({std::string(Seal::kKeyBytes, 'k')});
  a.Begin();
  EXPECT_EQ(a.StateOf(id), VideoState::kSucceeded);  // it was not sealed
}

}  // namespace
}  // namespace reel::front
