// SPDX-License-Identifier: Apache-2.0
// Videos keep states for others to go on from, and promotions begin with them.
#include "server/front/jobs/state_keeping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StateKeepingTest : public ::testing::Test, public Harness {
 protected:
  void Begin() {
    Start();
    AddWorker();
  }
  NewJob Draft() {
    NewJob job = Request();
    job.spec.preset = "twice";
    job.spec.stop_after_pass = 1;
    return job;
  }
  void FinishWith(const Sent& sent, int64_t state_size, const std::string& sha256) {
    Media(sent, 0, "frames");
    JobFinished finished;
    finished.media.content_type = "video/mp4";
    finished.media.size_bytes = 6;
    finished.state_size_bytes = state_size;
    finished.state_sha256 = sha256;
    Report(sent, std::move(finished));
  }
  void FinishWith(const Sent& sent, const std::string& state) {
    FinishWith(sent, static_cast<int64_t>(state.size()), Sha256Hex(state));
  }
  // Of a video that succeeds without its state: why not.
  std::string WhyNotKept(Job& job) {
    const Video video = WaitForState(job, VideoState::kSucceeded);
    EXPECT_FALSE(video.kept.has_value());
    if (video.notices.size() != 1) return "no notice";
    EXPECT_EQ(video.notices[0].code, "STATE_NOT_KEPT");
    return video.notices[0].message;
  }
};

TEST_F(StateKeepingTest, AStateIsKeptBeforeItsVideoCounts) {
  Begin();
  JobPtr job = MustCreate(Draft());
  EXPECT_EQ(job->Snapshot().spec.keep_state, true);
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.spec.keep_state, true);
  Report(sent, JobState{0, "lat"});
  Report(sent, JobState{3, "ents"});
  FinishWith(sent, "latents");
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  ASSERT_EQ(journal.left().size(), 1U);
  EXPECT_EQ(*journal.left()[0].bytes, "latents");
  ASSERT_TRUE(video.kept.has_value());
  EXPECT_EQ(*video.kept, (KeptState{7, Sha256Hex("latents"), video.expire_time}));
  EXPECT_THAT(video.notices, IsEmpty());
}

TEST_F(StateKeepingTest, AStateMayGoSoonerThanItsVideo) {
  options.state.max_age = absl::Minutes(5);
  Begin();
  JobPtr job = MustCreate(Draft());
  const Sent sent = Take();
  Report(sent, JobState{0, "latents"});
  FinishWith(sent, "latents");
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(video.kept->expire_time, video.end_time + absl::Minutes(5));
}

TEST_F(StateKeepingTest, OnlyDraftsKeepTheirsUnlessTheRequestOrTheServerSaysMore) {
  Begin();
  EXPECT_EQ(MustCreate(Request())->Snapshot().spec.keep_state, false);
  NewJob asks = Request();
  asks.spec.keep_state = true;
  EXPECT_EQ(MustCreate(asks)->Snapshot().spec.keep_state, true);
  NewJob does_not = Draft();
  does_not.spec.keep_state = false;
  EXPECT_EQ(MustCreate(does_not)->Snapshot().spec.keep_state, false);
  options.state.keep = StateOptions::Keep::kAlways;
  Begin();
  EXPECT_EQ(MustCreate(Request())->Snapshot().spec.keep_state, true);
}

TEST_F(StateKeepingTest, AServerThatKeepsNoneMakesDraftsButRefusesToKeep) {
  options.state.keep = StateOptions::Keep::kNever;
  Begin();
  EXPECT_EQ(MustCreate(Draft())->Snapshot().spec.keep_state, false);
  NewJob asks = Draft();
  asks.spec.keep_state = true;
  const auto refused = Create(asks);
  EXPECT_EQ(ReasonOf(refused.status()), Reason::kInvalidSpec);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("spec.keep_state"));
}

TEST_F(StateKeepingTest, AVideoSucceedsWithoutAStateThatDidNotArriveWhole) {
  options.state.max_bytes = 8;
  Begin();
  JobPtr none = MustCreate(Draft());
  FinishWith(Take(), 0, "");
  EXPECT_THAT(WhyNotKept(*none), HasSubstr("its worker left none"));

  JobPtr short_one = MustCreate(Draft());
  Sent sent = Take();
  Report(sent, JobState{0, "lat"});
  FinishWith(sent, "latents");
  EXPECT_THAT(WhyNotKept(*short_one), HasSubstr("sent 3 bytes and reported 7"));

  JobPtr disordered = MustCreate(Draft());
  sent = Take();
  Report(sent, JobState{0, "lat"});
  Report(sent, JobState{4, "nts"});
  FinishWith(sent, "latents");
  EXPECT_THAT(WhyNotKept(*disordered), HasSubstr("at 4 where those at 3"));

  JobPtr large = MustCreate(Draft());
  sent = Take();
  Report(sent, JobState{0, "latents"});
  Report(sent, JobState{7, "latents"});
  FinishWith(sent, "latentslatents");
  EXPECT_THAT(WhyNotKept(*large), HasSubstr("more than 8 bytes"));
  EXPECT_THAT(observer.Get().states, ElementsAre(StateEnd::kFailed, StateEnd::kFailed,
                                                 StateEnd::kFailed, StateEnd::kTooLarge));
  EXPECT_THAT(journal.left(), IsEmpty());
}

TEST_F(StateKeepingTest, AVideoSucceedsWithoutAStateThatTheStoreDoesNotTake) {
  journal.keeps = absl::ResourceExhaustedError("the disk is full");
  Begin();
  JobPtr job = MustCreate(Draft());
  const Sent sent = Take();
  Report(sent, JobState{0, "latents"});
  FinishWith(sent, "latents");
  EXPECT_THAT(WhyNotKept(*job), HasSubstr("the disk is full"));
  EXPECT_THAT(observer.Get().states, ElementsAre(StateEnd::kFailed));
}

TEST_F(StateKeepingTest, StatesThatAreOnTheirWayTogetherHoldTwiceTheLimit) {
  options.state.max_bytes = 4;
  Begin();
  AddWorker("w1");
  JobPtr first = MustCreate(Draft());
  const Sent of_first = Take();
  JobPtr second = MustCreate(Draft());
  const Sent of_second = Take();
  JobPtr third = MustCreate(Draft());
  const Sent of_third = Take();
  for (const Sent* sent : {&of_first, &of_second, &of_third}) Report(*sent, JobState{0, "late"});
  FinishWith(of_third, "late");
  EXPECT_THAT(WhyNotKept(*third), HasSubstr("too many other states"));
  FinishWith(of_first, "late");
  FinishWith(of_second, "late");
  EXPECT_TRUE(WaitForState(*first, VideoState::kSucceeded).kept.has_value());
  EXPECT_TRUE(WaitForState(*second, VideoState::kSucceeded).kept.has_value());
  // What has ended makes room.
  JobPtr fourth = MustCreate(Draft());
  const Sent of_fourth = Take();
  Report(of_fourth, JobState{0, "late"});
  FinishWith(of_fourth, "late");
  EXPECT_TRUE(WaitForState(*fourth, VideoState::kSucceeded).kept.has_value());
}

TEST_F(StateKeepingTest, AnAttemptThatIsMadeAgainLeavesItsOwnState) {
  Begin();
  JobPtr job = MustCreate(Draft());
  const Sent lost = Take();
  Report(lost, JobState{0, "older"});
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  AddWorker();
  const Sent sent = Take();
  Report(lost, JobState{5, "late"});
  Report(sent, JobState{0, "latents"});
  FinishWith(sent, "latents");
  ASSERT_TRUE(WaitForState(*job, VideoState::kSucceeded).kept.has_value());
  EXPECT_EQ(*journal.left().at(0).bytes, "latents");
}

TEST_F(StateKeepingTest, KeptStatesCountInTheirTenantsBytes) {
  options.tenants["t"].max_stored_bytes = 1000;
  Begin();
  JobPtr job = MustCreate(Draft());
  Sent sent = Take();
  // All that the file leaves of what was reserved for it.
  Report(sent, JobState{0, std::string(994, 's')});
  FinishWith(sent, std::string(994, 's'));
  EXPECT_TRUE(WaitForState(*job, VideoState::kSucceeded).kept.has_value());
  dispatcher->SetKeptStates({{{"t", 990}, {"other", 5}}, 2});
  EXPECT_EQ(ReasonOf(Create(Draft()).status()), Reason::kTenantQuota);
  dispatcher->SetKeptStates({});
  JobPtr next = MustCreate(Draft());
  sent = Take();
  // A state for which there is no room does not cost its video.
  dispatcher->SetKeptStates({{{"t", 990}}, 1});
  Report(sent, JobState{0, std::string(500, 's')});
  FinishWith(sent, std::string(500, 's'));
  EXPECT_THAT(WhyNotKept(*next), HasSubstr("the tenant's limit of stored bytes leaves"));
  EXPECT_THAT(observer.Get().states, ElementsAre(StateEnd::kKept, StateEnd::kNoRoom));
}

TEST_F(StateKeepingTest, APromotionIsSentWithTheStateThatItBeginsFromAndAgainToTheNextWorker) {
  Begin();
  NewJob job = Request();
  job.spec.preset = "twice";
  job.spec.conditions.resize(1);  // of the draft, whose bytes nobody has any more
  job.spec.conditions[0].size_bytes = 5;
  job.spec.source =
      model::Source{"videos/draft", model::Source::Begin::kPromote, Sha256Hex("latents"), nullptr};
  job.state_bytes = 7;
  auto reserved = Await<Video>([&](auto done) { dispatcher->Reserve(job, std::move(done)); });
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(reserved->spec.keep_state, false);
  AdoptedJob adopted;
  adopted.video = *reserved;
  adopted.conditions = {std::make_shared<const std::string>("latents")};
  JobPtr promotion = *Adopt(std::move(adopted));
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const Sent sent = Take();
    EXPECT_EQ(sent.assignment.ref.attempt, attempt);
    EXPECT_EQ(sent.assignment.state_size_bytes, 7);
    ASSERT_NE(sent.assignment.spec.source->state, nullptr);
    EXPECT_EQ(*sent.assignment.spec.source->state, "latents");
    EXPECT_EQ(sent.assignment.spec.conditions[0].bytes, nullptr);
    if (attempt == 2) {
      RunToEnd(sent);
      break;
    }
    dispatcher->WorkerLost("w0", LossCause::kKilled);
    AddWorker();
  }
  WaitForState(*promotion, VideoState::kSucceeded);
  Settle();
  EXPECT_EQ(media->Usage().stored_bytes, 6);  // the copy of the state is gone
}

}  // namespace
}  // namespace reel::front
