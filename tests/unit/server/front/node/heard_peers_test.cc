// SPDX-License-Identifier: Apache-2.0
// Servers that hear each other.
#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/node/fleet_fixture.h"
#include "tests/unit/server/front/node/scripted_peers.h"

namespace reel::front {
namespace {

class IgnoresWakes final : public JobListener {
 public:
  void Wake() override {}
};

class HeardPeersTest : public FleetFixture {
 protected:
  Member& AddHearing(const std::string& name, bool with_worker) {
    Member& member = Add(name, with_worker);
    member.peers = {peers_, std::make_shared<Spool>(folder_.path(), 1000)};
    member.Begin(with_worker);
    return member;
  }

  // Another server than the one that was asked hears of a video a little later.
  static bool Shows(Member& member, const std::string& id, VideoState state) {
    auto job = member.Get(id);
    return job.ok() && (*job)->state() == state;
  }

  reel::testing::TempFolder folder_;
  std::shared_ptr<ScriptedPeers> peers_ = std::make_shared<ScriptedPeers>();
  std::shared_ptr<IgnoresWakes> reader_ = std::make_shared<IgnoresWakes>();
};

TEST_F(HeardPeersTest, AVideoIsRenderedByAnyoneThoughItsCallerWaitsForItsBytes) {
  Member& a = AddHearing("a", true);
  Member& b = Add("b");
  NewJob bound = a.Request();
  bound.bound = true;
  FleetView view;
  const auto port = log_.Join(view);
  const std::string id = a.MustAsk(bound)->Snapshot().id;
  EXPECT_EQ(view.Find("t", id)->caller_node, "");
  // Without the other's bytes it would be left to its caller's.
  const std::string left = b.MustAsk(bound)->Snapshot().id;
  EXPECT_EQ(view.Find("t", left)->caller_node, "b");
}

TEST_F(HeardPeersTest, AFileElsewhereIsCopiedOnceForReadersOneAfterTheOther) {
  Member& a = Add("a");
  Member& gateway = AddHearing("gateway", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(WhoRuns()->Take());
  ASSERT_TRUE(Comes([&] { return Shows(gateway, id, VideoState::kSucceeded); }));
  for (int i = 0; i < 5; ++i) {
    auto job = gateway.Get(id);
    ASSERT_TRUE(job.ok());
    (*job)->Listen(reader_);
    EXPECT_TRUE((*job)->ReadMedia(0, 10)->pending);
    Pass(absl::Seconds(1));
  }
  ASSERT_EQ(peers_->calls.size(), 1U);
  EXPECT_EQ(peers_->last().ask.address, "a:1");
  EXPECT_EQ(peers_->last().ask.tenant, "t");
  EXPECT_TRUE(peers_->last().is_open);
  EXPECT_TRUE(Comes([&] { return !peers_->last().is_open; }));
}

TEST_F(HeardPeersTest, AFileThatWasGivenUpIsAskedForAnew) {
  Member& a = Add("a");
  Member& gateway = AddHearing("gateway", false);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  a.RunToEnd(WhoRuns()->Take());
  ASSERT_TRUE(Comes([&] { return Shows(gateway, id, VideoState::kSucceeded); }));
  JobPtr first = *gateway.Get(id);
  first->Listen(reader_);
  ASSERT_TRUE(Comes([&] { return !first->ReadMedia(0, 10).ok(); }));
  JobPtr second = *gateway.Get(id);
  second->Listen(reader_);
  EXPECT_TRUE(second->ReadMedia(0, 10)->pending);
  EXPECT_EQ(peers_->calls.size(), 2U);
}

TEST_F(HeardPeersTest, APeerIsToldOfWhatIsHereAlone) {
  Member& a = Add("a");
  Member& b = AddHearing("b", false);
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = WhoRuns()->Take();
  ASSERT_TRUE(Comes([&] { return Shows(b, id, VideoState::kRunning); }));
  Reach peers_reach{"t"};
  peers_reach.from_peer = true;
  auto elsewhere = b.Get(id, peers_reach);
  ASSERT_TRUE(elsewhere.ok());
  (*elsewhere)->Listen(reader_);
  EXPECT_TRUE(peers_->calls.empty());
  auto here = a.Get(id, peers_reach);
  ASSERT_TRUE(here.ok());
  a.RunToEnd(sent);
  ASSERT_TRUE(Comes([&] { return (*here)->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(ReadAll(**here), "frames");
  EXPECT_FALSE(b.Get("no-such", peers_reach).ok());
}

}  // namespace
}  // namespace reel::front
