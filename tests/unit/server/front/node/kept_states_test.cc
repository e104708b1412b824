// SPDX-License-Identifier: Apache-2.0
// States of videos, and the requests that go on from them: on a lone server and in a fleet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/digest/sha256.h"
#include "server/front/node/fleet_video.h"
#include "server/front/node/object_keys.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kLatents[] = "latents";

NewJob DraftOf(Member& member) {
  NewJob job = member.Request();
  job.spec.preset = "twice";
  job.spec.stop_after_pass = 1;
  return job;
}

NewJob PromotionOf(const std::string& id, const std::string& request_id = "") {
  NewJob job;
  job.tenant = "t";
  job.spec.source = model::Source{"videos/" + id, model::Source::Begin::kPromote, "", nullptr};
  job.spec_sent = "promote " + id;
  job.request_id = request_id;
  return job;
}

void Leave(Member& member, const Sent& sent, const std::string& state) {
  member.Report(sent, JobState{0, state});
  member.Media(sent, 0, "small");
  JobFinished finished;
  finished.media.content_type = "video/mp4";
  finished.media.size_bytes = 5;
  finished.state_size_bytes = static_cast<int64_t>(state.size());
  finished.state_sha256 = Sha256Hex(state);
  member.Report(sent, std::move(finished));
}

class KeptStatesTest : public FleetFixture {
 protected:
  KeptStatesTest() { objects_ = &store_; }
  ~KeptStatesTest() override { members_.clear(); }

  Member& AddAlone() {
    auto& member = members_["alone"];
    member = std::make_unique<Member>(log_, serializer_, "alone", objects_);
    member->has_own_log = true;
    member->Begin(true, /*alone=*/false);
    return *member;
  }
  bool Succeeds(Member& at, const std::string& id) {
    return Comes([&] { return at.StateOf(id) == VideoState::kSucceeded; });
  }
  // Its id.
  std::string Draft(Member& at) {
    const std::string id = at.MustAsk(DraftOf(at))->Snapshot().id;
    Member* const runs = WhoRuns();
    Leave(*runs, runs->Take(), kLatents);
    EXPECT_TRUE(Succeeds(at, id));
    return id;
  }
  std::string KeyOf(const std::string& id, uint32_t epoch = 1) {
    return StateKey("prod", "t", id, epoch);
  }
  Reason WhyRefused(Member& at, NewJob job) {
    const auto refused = at.Ask(std::move(job));
    EXPECT_FALSE(refused.ok());
    return ReasonOf(refused.status()).value_or(Reason::kInternal);
  }

  reel::testing::MemoryObjects store_;
};

TEST_F(KeptStatesTest, APromotionIsTheDraftsSpecWithoutItsStopAndBeginsFromItsState) {
  Member& alone = AddAlone();
  const std::string draft = Draft(alone);
  EXPECT_EQ(store_.All(), (std::map<std::string, std::string>{{KeyOf(draft), kLatents}}));
  const model::GenerationSpec of_draft = (*alone.Get(draft))->Snapshot().spec;

  const JobPtr promotion = alone.MustAsk(PromotionOf(draft));
  const model::GenerationSpec spec = promotion->Snapshot().spec;
  EXPECT_EQ(spec.seed, of_draft.seed);
  EXPECT_EQ(spec.prompt, of_draft.prompt);
  EXPECT_EQ(spec.stop_after_pass, std::nullopt);
  EXPECT_EQ(spec.keep_state, false);
  EXPECT_EQ(spec.source->video, "videos/" + draft);
  EXPECT_EQ(spec.source->state_sha256, Sha256Hex(kLatents));
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  const Sent sent = alone.Take();
  EXPECT_EQ(sent.assignment.state_size_bytes, 7);
  EXPECT_EQ(*sent.assignment.spec.source->state, kLatents);
  alone.RunToEnd(sent);
  ASSERT_TRUE(Succeeds(alone, promotion->Snapshot().id));
}

TEST_F(KeptStatesTest, APromotionThatKeepsItsStateCanBeGoneOnFrom) {
  Member& alone = AddAlone();
  NewJob keeps = PromotionOf(Draft(alone));
  keeps.spec.keep_state = true;
  const std::string id = alone.MustAsk(std::move(keeps))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  const Sent sent = alone.Take();
  EXPECT_EQ(sent.assignment.spec.keep_state, true);
  Leave(alone, sent, "latents of the whole");
  ASSERT_TRUE(Succeeds(alone, id));
  NewJob retake = PromotionOf(id);
  retake.spec.source->begin = model::Source::Begin::kRetake;
  retake.spec.source->retake = {.begin = 0, .end = 0.5};
  retake.spec.preset = "once";
  const JobPtr anew = alone.MustAsk(std::move(retake));
  EXPECT_EQ(anew->Snapshot().spec.source->state_sha256, Sha256Hex("latents of the whole"));
}

TEST_F(KeptStatesTest, AVideoNamesThoseThatGoOnFromItNewestFirst) {
  Member& alone = AddAlone();
  const std::string draft = Draft(alone);
  EXPECT_THAT((*alone.Get(draft))->Snapshot().continued_by, IsEmpty());
  const std::string first = alone.MustAsk(PromotionOf(draft))->Snapshot().id;
  const std::string second = alone.MustAsk(PromotionOf(draft))->Snapshot().id;
  const auto names = ElementsAre("videos/" + second, "videos/" + first);
  EXPECT_THAT((*alone.Get(draft))->Snapshot().continued_by, names);
  alone.Begin();
  ASSERT_TRUE(Succeeds(alone, draft));
  EXPECT_THAT((*alone.Get(draft))->Snapshot().continued_by, names);
}

TEST_F(KeptStatesTest, ARetakeIsTheWholeVideosSpecButForWhatItSetsAndBeginsFromItsState) {
  Member& alone = AddAlone();
  NewJob whole = alone.Request();
  whole.spec.keep_state = true;
  whole.spec.num_frames = 49;
  const std::string film = alone.MustAsk(std::move(whole))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  Leave(alone, alone.Take(), kLatents);
  ASSERT_TRUE(Succeeds(alone, film));
  const model::GenerationSpec of_film = (*alone.Get(film))->Snapshot().spec;

  NewJob asked = PromotionOf(film);
  asked.spec.source->begin = model::Source::Begin::kRetake;
  asked.spec.source->retake = {.begin = 0.5, .end = 1};
  asked.spec.prompt = "an owl";
  asked.spec.seed = 99;
  const JobPtr retake = alone.MustAsk(asked);
  const model::GenerationSpec spec = retake->Snapshot().spec;
  EXPECT_EQ(spec.prompt, "an owl");
  EXPECT_EQ(spec.seed, 99U);
  EXPECT_EQ(spec.width, of_film.width);
  EXPECT_EQ(spec.num_frames, 49);
  EXPECT_EQ(spec.num_inference_steps, of_film.num_inference_steps);
  EXPECT_EQ(spec.source->state_sha256, Sha256Hex(kLatents));
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  const Sent sent = alone.Take();
  EXPECT_EQ(*sent.assignment.spec.source->state, kLatents);
  alone.RunToEnd(sent);
  ASSERT_TRUE(Succeeds(alone, retake->Snapshot().id));
  EXPECT_THAT((*alone.Get(film))->Snapshot().continued_by,
              ElementsAre("videos/" + retake->Snapshot().id));

  asked.spec.source->retake.end = 49;
  EXPECT_EQ(WhyRefused(alone, asked), Reason::kInvalidSpec);
  asked.spec.source->begin = model::Source::Begin::kExtend;
  asked.spec.source->extend = {8, 57};
  EXPECT_EQ(WhyRefused(alone, asked), Reason::kInvalidSpec);
  NewJob of_draft = asked;
  of_draft.spec.source->video = "videos/" + Draft(alone);
  of_draft.spec.source->extend = {8, 9};
  EXPECT_EQ(WhyRefused(alone, of_draft), Reason::kInvalidSpec);
}

TEST_F(KeptStatesTest, OnlyWhoCanReadTheVideoCanGoOnFromIt) {
  Member& alone = AddAlone();
  const std::string draft = Draft(alone);
  NewJob foreign = PromotionOf(draft);
  foreign.tenant = "other";
  EXPECT_EQ(WhyRefused(alone, foreign), Reason::kVideoNotFound);
  EXPECT_EQ(WhyRefused(alone, PromotionOf("prod-unknown")), Reason::kVideoNotFound);
}

TEST_F(KeptStatesTest, WhatCannotBeGoneOnFromIsRefusedBeforeAnythingIsQueued) {
  Member& alone = AddAlone();
  const JobPtr running = alone.MustAsk(DraftOf(alone));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(running->Snapshot().id)), Reason::kStateGone);
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  alone.RunToEnd(alone.Take());  // it leaves none
  ASSERT_TRUE(Succeeds(alone, running->Snapshot().id));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(running->Snapshot().id)), Reason::kStateGone);

  NewJob whole = alone.Request();
  whole.spec.keep_state = true;
  const JobPtr kept = alone.MustAsk(std::move(whole));
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  Leave(alone, alone.Take(), kLatents);
  ASSERT_TRUE(Succeeds(alone, kept->Snapshot().id));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(kept->Snapshot().id)), Reason::kInvalidSpec);

  const std::string draft = Draft(alone);
  NewJob other_state = PromotionOf(draft);
  other_state.spec.source->state_sha256 = Sha256Hex("others");
  EXPECT_EQ(WhyRefused(alone, other_state), Reason::kStateGone);
  store_.Place(KeyOf(draft), "damaged", absl::Now());
  EXPECT_EQ(WhyRefused(alone, PromotionOf(draft)), Reason::kStateGone);
  ASSERT_TRUE(store_.Delete(KeyOf(draft)).ok());
  EXPECT_EQ(WhyRefused(alone, PromotionOf(draft)), Reason::kStateGone);
  EXPECT_TRUE(Comes([&] { return alone.observer.Get().gauges.damaged_states == 2; }));
  store_.FailWith(absl::UnavailableError("away"));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(draft)), Reason::kFleetUnavailable);
  EXPECT_EQ(alone.NumActive(), 0U);
}

TEST_F(KeptStatesTest, AStateThatHasExpiredIsGoneAndSweptWhileItsVideoStays) {
  Member& alone = AddAlone();
  alone.options.state.max_age = absl::Minutes(10);
  alone.Begin();
  const std::string draft = Draft(alone);
  alone.clock.Advance(absl::Minutes(11));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(draft)), Reason::kStateGone);
  EXPECT_TRUE(Comes([&] { return store_.All().empty(); }));
  EXPECT_EQ(alone.StateOf(draft), VideoState::kSucceeded);
}

TEST_F(KeptStatesTest, AStateGoesWithItsVideoAndItsTenantHasTheRoomAgain) {
  Member& alone = AddAlone();
  alone.options.tenants["t"].max_stored_bytes = 1000;
  alone.Begin();
  const std::string draft = alone.MustAsk(DraftOf(alone))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  Leave(alone, alone.Take(), std::string(992, 's'));
  ASSERT_TRUE(Succeeds(alone, draft));
  const auto why_refused = [&] {
    const auto valid =
        Await<Video>([&](auto done) { alone.service->Validate(DraftOf(alone), std::move(done)); });
    return ReasonOf(valid.status());
  };
  EXPECT_TRUE(Comes([&] { return why_refused() == Reason::kTenantQuota; }));
  EXPECT_TRUE(
      AwaitStatus([&](auto done) { alone.service->Delete({"t"}, draft, std::move(done)); }).ok());
  EXPECT_TRUE(Comes([&] { return store_.All().empty(); }));
  EXPECT_EQ(WhyRefused(alone, PromotionOf(draft)), Reason::kVideoNotFound);
  EXPECT_TRUE(Comes([&] { return !why_refused().has_value(); }));
}

TEST_F(KeptStatesTest, ARepeatedRequestFindsItsVideoThoughTheStateIsGone) {
  Member& alone = AddAlone();
  const std::string draft = Draft(alone);
  const std::string id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
  const std::string first = alone.MustAsk(PromotionOf(draft, id))->Snapshot().id;
  ASSERT_TRUE(store_.Delete(KeyOf(draft)).ok());
  EXPECT_EQ(alone.MustAsk(PromotionOf(draft, id))->Snapshot().id, first);
  NewJob other = PromotionOf(draft, id);
  other.spec_sent += " with a hash";
  EXPECT_EQ(WhyRefused(alone, other), Reason::kRequestIdConflict);
}

TEST_F(KeptStatesTest, APromotionThatItsProcessHadNotBegunFetchesItsStateAgain) {
  Member& alone = AddAlone();
  const std::string draft = Draft(alone);
  const std::string id = alone.MustAsk(PromotionOf(draft))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  alone.Take();
  alone.Begin();
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  const Sent sent = alone.Take();
  EXPECT_EQ(*sent.assignment.spec.source->state, kLatents);
  alone.RunToEnd(sent);
  EXPECT_TRUE(Succeeds(alone, id));
}

TEST_F(KeptStatesTest, ADraftWhoseProcessDiedAtItsEndKeepsAStateThatFitsOrNone) {
  Member& alone = AddAlone();
  const std::string draft = alone.MustAsk(DraftOf(alone))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return alone.pool.num_waiting() > 0; }));
  // Dies when the state is stored, and nothing else is.
  std::atomic<bool> stored = false;
  store_.OnPut([&](const std::string&) { stored = true; });
  const Sent sent = alone.Take();
  Leave(alone, sent, kLatents);
  ASSERT_TRUE(Comes([&] { return stored.load(); }));
  store_.OnPut(nullptr);
  alone.Begin();
  if (!Comes([&] {
        return alone.pool.num_waiting() > 0 || alone.StateOf(draft) == VideoState::kSucceeded;
      })) {
    FAIL() << "neither rendered again nor finished";
  }
  if (alone.pool.num_waiting() > 0) Leave(alone, alone.Take(), "latents again");
  ASSERT_TRUE(Succeeds(alone, draft));
  const Video video = (*alone.Get(draft))->Snapshot();
  ASSERT_TRUE(video.kept.has_value());
  EXPECT_EQ(video.kept->sha256, Sha256Hex(store_.All().at(KeyOf(draft, EpochOf(video.attempt)))));
  EXPECT_TRUE(alone.Ask(PromotionOf(draft)).ok());
}

TEST_F(KeptStatesTest, AnyServerOfAFleetGoesOnFromAVideoOfAnother) {
  Member& a = Add("a");
  const std::string draft = Draft(a);
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return b.StateOf(draft).has_value(); }));
  a.Kill();
  Pass(absl::Seconds(6));
  const std::string id = b.MustAsk(PromotionOf(draft))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() > 0; }));
  const Sent sent = b.Take();
  EXPECT_EQ(*sent.assignment.spec.source->state, kLatents);
  b.RunToEnd(sent);
  ASSERT_TRUE(Succeeds(b, id));
  // Whoever looks at the draft, here from the store, sees it.
  EXPECT_THAT((*b.Get(draft))->Snapshot().continued_by, ElementsAre("videos/" + id));
}

TEST_F(KeptStatesTest, AServerThatTakesAPromotionOverFetchesItsState) {
  Member& a = Add("a");
  const std::string draft = Draft(a);
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return b.StateOf(draft).has_value(); }));
  const std::string id = a.MustAsk(PromotionOf(draft))->Snapshot().id;
  Member* const first = WhoRuns();
  first->Take();
  Member& next = first == &a ? b : a;
  first->Kill();
  ASSERT_TRUE(Comes([&] { return next.pool.num_waiting() > 0; }));
  const Sent sent = next.Take();
  EXPECT_EQ(*sent.assignment.spec.source->state, kLatents);
  next.RunToEnd(sent);
  EXPECT_TRUE(Succeeds(next, id));
}

TEST_F(KeptStatesTest, APromotionWhoseSourceIsDeletedBeforeAServerHasItsStateFails) {
  Member& a = Add("a");
  const std::string draft = Draft(a);
  // It waits in the log, behind these.
  std::vector<std::string> others;
  for (int i = 0; i < 6; ++i) others.push_back(a.MustAsk(a.Request())->Snapshot().id);
  const std::string id = a.MustAsk(PromotionOf(draft))->Snapshot().id;
  ASSERT_TRUE(
      AwaitStatus([&](auto done) { a.service->Delete({"t"}, draft, std::move(done)); }).ok());
  for (const std::string& other : others) {
    ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() > 0; })) << other;
    a.RunToEnd(a.Take());
  }
  ASSERT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kFailed; }));
  EXPECT_EQ(ReasonOf((*a.Get(id))->Snapshot().error), Reason::kStateGone);
}

TEST_F(KeptStatesTest, AFleetsKeyEncryptsStates) {
  seal_ = Seal({std::string(Seal::kKeyBytes, 'k')});
  Member& a = Add("a");
  const std::string draft = Draft(a);
  EXPECT_TRUE(Seal::IsSealed(store_.All().at(KeyOf(draft))));
  const JobPtr promotion = a.MustAsk(PromotionOf(draft));
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() > 0; }));
  EXPECT_EQ(*a.Take().assignment.spec.source->state, kLatents);
}

TEST_F(KeptStatesTest, AStateWaitsForAStoreThatIsAway) {
  Member& a = Add("a");
  const std::string draft = a.MustAsk(DraftOf(a))->Snapshot().id;
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() > 0; }));
  store_.FailWith(absl::UnavailableError("away"));
  Leave(a, a.Take(), kLatents);
  Pass(absl::Seconds(3));
  EXPECT_FALSE(IsFinal(*a.StateOf(draft)));
  store_.FailWith(absl::OkStatus());
  ASSERT_TRUE(Succeeds(a, draft));
  EXPECT_TRUE((*a.Get(draft))->Snapshot().kept.has_value());
}

}  // namespace
}  // namespace reel::front
