// SPDX-License-Identifier: Apache-2.0
// Servers whose log and store tell nothing to those without the fleet's key.
#include <gtest/gtest.h>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/node/object_keys.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

constexpr char kSealedId[] = "8c5b0f60-0000-4000-8000-000000000001";

class SealedVideosTest : public FleetFixture {
 protected:
  SealedVideosTest() { objects_ = &store_; }
  ~SealedVideosTest() override { members_.clear(); }

  static Seal Keys(const std::string& letters) {
    std::vector<std::string> keys;
    for (const char letter : letters) keys.emplace_back(Seal::kKeyBytes, letter);
    return Seal(keys);
  }
  Member& AddWith(const std::string& name, const std::string& letters, bool with_worker = true) {
    seal_ = Keys(letters);
    return Add(name, with_worker);
  }
  // As the log has it.
  FleetJob InLog(const std::string& id) {
    FleetView view;
    const auto port = log_.Join(view);
    return view.Find("t", id).value_or(FleetJob());
  }
  bool Succeeds(Member& at, const std::string& id) {
    return Comes([&] {
      const auto job = at.Get(id);
      return job.ok() && (*job)->state() == VideoState::kSucceeded;
    });
  }
  bool IsKnownAt(Member& at, const std::string& id) {
    return Comes([&] { return !absl::IsNotFound(at.Get(id).status()); });
  }
  static std::string Words(const absl::Status& status) { return std::string(status.message()); }

  reel::testing::MemoryObjects store_;
};

TEST_F(SealedVideosTest, EveryMessageWithAVideoIsSealed) {
  Member& gateway = AddWith("gateway", "a", false);
  const std::string cancelled = gateway.MustAsk(gateway.Request())->Snapshot().id;
  EXPECT_TRUE(Seal::IsSealed(InLog(cancelled).video));
  ASSERT_TRUE(Await<Video>([&](auto done) {
                gateway.service->Cancel({"t"}, cancelled, std::move(done));
              }).ok());
  EXPECT_TRUE(Comes([&] { return gateway.StateOf(cancelled) == VideoState::kCancelled; }));
  EXPECT_TRUE(Seal::IsSealed(InLog(cancelled).video));
  const std::string id = gateway.MustAsk(gateway.Request())->Snapshot().id;
  Member& a = AddWith("a", "a");
  ASSERT_EQ(WhoRuns(), &a);
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Succeeds(gateway, id));
  EXPECT_TRUE(Seal::IsSealed(InLog(id).video));
  EXPECT_EQ((*gateway.Get(id))->Snapshot().spec.prompt, a.Request().spec.prompt);
}

TEST_F(SealedVideosTest, APictureIsSealedAndReachesWhoRendersIt) {
  Member& gateway = AddWith("gateway", "ab", false);
  const std::string id = gateway.MustAsk(WithPicture(gateway, "pixels"))->Snapshot().id;
  gateway.MustAsk(WithPicture(gateway, "pixels"));
  // One object, however often it is sent.
  const auto all = store_.All();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(Seal::IsSealed(all.begin()->second));
  EXPECT_EQ(all.begin()->first.find(Sha256Hex("pixels")), std::string::npos);
  // Another key is first there.
  Member& b = AddWith("b", "ba");
  ASSERT_EQ(WhoRuns(), &b);
  const Sent sent = b.Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  b.RunToEnd(sent);
  EXPECT_TRUE(Succeeds(gateway, sent.assignment.ref.job));
  EXPECT_TRUE(gateway.Get(id).ok());
}

TEST_F(SealedVideosTest, APictureThatWasChangedEndsItsVideo) {
  Member& gateway = AddWith("gateway", "a", false);
  const std::string id = gateway.MustAsk(WithPicture(gateway, "pixels"))->Snapshot().id;
  std::string bytes = store_.All().begin()->second;
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  store_.Place(store_.All().begin()->first, bytes, absl::Now());
  AddWith("b", "a");
  ASSERT_TRUE(Comes([&] { return gateway.StateOf(id) == VideoState::kFailed; }));
  EXPECT_EQ(ReasonOf((*gateway.Get(id))->Snapshot().error), Reason::kInternal);
}

TEST_F(SealedVideosTest, AServerWithoutTheKeyLeavesAVideoToOthersAndSaysSo) {
  Member& gateway = AddWith("gateway", "a", false);
  Member& keyless = AddWith("keyless", "");
  const std::string id = gateway.MustAsk(RequestWithId(kSealedId))->Snapshot().id;
  ASSERT_TRUE(IsKnownAt(keyless, id));
  Pass(absl::Seconds(5));
  EXPECT_EQ(log_.Count(".c."), 0);
  EXPECT_EQ(keyless.pool.num_waiting(), 0);
  const absl::Status got = keyless.Get(id).status();
  EXPECT_EQ(ReasonOf(got), Reason::kFleetUnavailable) << got;
  EXPECT_NE(Words(got).find("encrypted with a key that this server does not have"),
            std::string::npos);
  EXPECT_EQ(ReasonOf(Await<Video>([&](auto done) {
                       keyless.service->Cancel({"t"}, id, std::move(done));
                     }).status()),
            Reason::kFleetUnavailable);
  EXPECT_EQ(ReasonOf(AwaitStatus(
                [&](auto done) { keyless.service->Delete({"t"}, id, std::move(done)); })),
            Reason::kFleetUnavailable);
  // With its request id, too, and no second video comes of that.
  EXPECT_EQ(ReasonOf(keyless.Ask(RequestWithId(kSealedId)).status()), Reason::kFleetUnavailable);
  EXPECT_EQ(log_.Count(".q"), 1);
  // To others than its tenant it is none.
  EXPECT_TRUE(absl::IsNotFound(keyless.Get(id, {"u"}).status()));
  // Its own videos are as ever.
  const std::string own = keyless.MustAsk(keyless.Request())->Snapshot().id;
  keyless.RunToEnd(keyless.Take());
  ASSERT_TRUE(Succeeds(gateway, own));
  ListQuery query;
  query.reach.tenant = "t";
  EXPECT_EQ(keyless.Page(query), std::vector<std::string>{own});
  // And whoever has the key does it.
  Member& b = AddWith("b", "a");
  ASSERT_EQ(WhoRuns(), &b);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Succeeds(gateway, id));
}

TEST_F(SealedVideosTest, WhoLosesTheKeyGivesBackWhatItHad) {
  Member& a = AddWith("a", "a");
  Member& gateway = AddWith("gateway", "a", false);
  const std::string id = gateway.MustAsk(gateway.Request())->Snapshot().id;
  ASSERT_EQ(WhoRuns(), &a);
  a.Take();
  a.seal = Seal();
  a.Begin();
  ASSERT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  Member& b = AddWith("b", "a");
  ASSERT_EQ(WhoRuns(), &b);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Succeeds(gateway, id));
}

TEST_F(SealedVideosTest, WhatASilentServerWasToEndIsEndedByOneWithTheKey) {
  Member& gateway = AddWith("gateway", "a", false);
  Member& a = AddWith("a", "a");
  const std::string id = gateway.MustAsk(gateway.Request())->Snapshot().id;
  ASSERT_EQ(WhoRuns(), &a);
  a.Take();
  a.Kill();
  ASSERT_TRUE(
      Await<Video>([&](auto done) { gateway.service->Cancel({"t"}, id, std::move(done)); }).ok());
  gateway.Kill();
  AddWith("keyless", "");
  Pass(absl::Seconds(10));
  EXPECT_EQ(log_.Count(".c.2"), 0);
  Member& b = AddWith("b", "a");
  EXPECT_TRUE(Comes([&] { return b.StateOf(id) == VideoState::kCancelled; }));
}

TEST_F(SealedVideosTest, WhatWasWrittenBeforeThereWasAKeyIsReadAndRendered) {
  Member& before = AddWith("before", "", false);
  const std::string id = before.MustAsk(WithPicture(before, "pixels"))->Snapshot().id;
  const std::string named = before.MustAsk(RequestWithId(kSealedId))->Snapshot().id;
  EXPECT_FALSE(Seal::IsSealed(InLog(id).video));
  before.Kill();
  Member& a = AddWith("a", "a");
  EXPECT_EQ(a.MustAsk(RequestWithId(kSealedId))->Snapshot().id, named);
  EXPECT_EQ(ReasonOf(a.Ask(RequestWithId(kSealedId, "a blue fox")).status()),
            Reason::kRequestIdConflict);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(WhoRuns(), &a);
    a.RunToEnd(a.Take());
  }
  EXPECT_TRUE(Succeeds(a, id));
  EXPECT_TRUE(Succeeds(a, named));
  EXPECT_TRUE(Seal::IsSealed(InLog(id).video));
}

TEST_F(SealedVideosTest, ARequestIdIsHeldToItsSpecByTheKeyAndAfterAChangeOfKeys) {
  Member& a = AddWith("a", "a", false);
  const std::string id = a.MustAsk(RequestWithId(kSealedId))->Snapshot().id;
  FleetView view;
  const auto port = log_.Join(view);
  // Nobody without the key can try what the prompt may have been.
  EXPECT_NE(view.FindBinding("t", kSealedId)->spec_hash, Sha256Hex("a red fox"));
  Member& b = AddWith("b", "ba", false);
  ASSERT_TRUE(IsKnownAt(b, id));
  EXPECT_EQ(b.MustAsk(RequestWithId(kSealedId))->Snapshot().id, id);
  EXPECT_EQ(ReasonOf(b.Ask(RequestWithId(kSealedId, "a blue fox")).status()),
            Reason::kRequestIdConflict);
}

TEST_F(SealedVideosTest, WhoCannotReadWhatNamesAPictureSweepsNone) {
  Member& gateway = AddWith("gateway", "b", false);
  NewJob job = WithPicture(gateway, "pixels");
  job.timeout = absl::Minutes(30);  // its picture is wanted until then, and sweeps come late
  gateway.MustAsk(job);
  Member& first = AddWith("a", "", false);
  Pass(absl::Seconds(1));
  const std::string key = store_.All().begin()->first;
  store_.Place(key, store_.All()[key], first.clock.Wall() - absl::Hours(30));
  store_.Place("prod/media/t/prod-unknown/1.mp4", "x", first.clock.Wall() - absl::Hours(9 * 24));
  Pass(Member::kSweep);
  EXPECT_TRUE(Comes([&] { return !store_.All().contains("prod/media/t/prod-unknown/1.mp4"); }));
  Pass(Member::kSweep + absl::Seconds(10));
  EXPECT_TRUE(store_.All().contains(key));
}

TEST_F(SealedVideosTest, ServersTellEachOtherWhichKeysTheyHave) {
  Member& a = AddWith("a", "ab", false);
  AddWith("b", "b", false);
  const auto keys_of = [&](const std::string& name) {
    const FleetStatus status = *a.service->Fleet();
    for (const FleetStatus::Node& node : status.nodes) {
      if (node.name == name) return node.prompt_keys;
    }
    return std::vector<std::string>();
  };
  EXPECT_TRUE(Comes([&] { return !keys_of("a").empty() && !keys_of("b").empty(); }));
  EXPECT_EQ(keys_of("a"), Keys("ab").Ids());
  EXPECT_EQ(keys_of("b"), Keys("b").Ids());
}

}  // namespace
}  // namespace reel::front
