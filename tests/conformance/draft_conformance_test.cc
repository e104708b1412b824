// SPDX-License-Identifier: Apache-2.0
// A promoted draft is the video that the whole request gives, whoever dies in between. A draft can
// be promoted as long as its state is kept, by its tenant alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::VideoSpec WholeSpec(uint64_t seed = 7) {
  v1::VideoSpec spec = SmallSpec("a red fox");
  spec.clear_num_inference_steps();
  spec.set_preset("two-pass");
  spec.set_height(128);  // half of it is on the grid, too
  spec.set_seed(seed);
  return spec;
}

v1::VideoSpec DraftSpec(uint64_t seed = 7) {
  v1::VideoSpec spec = WholeSpec(seed);
  spec.set_stop_after_pass(1);
  return spec;
}

v1::VideoSpec PromotionOf(const std::string& name) {
  v1::VideoSpec spec;
  spec.mutable_source()->set_video(name);
  spec.mutable_source()->mutable_promote();
  return spec;
}

class Draft : public Conformance {
 protected:
  static std::string FileOf(Service& service, const v1::Video& video) {
    std::string bytes;
    EXPECT_TRUE(service.Connect().Download(video.name(), 0, &bytes).ok()) << video.name();
    EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
    return bytes;
  }
  // `each` more drafts, whose seeds are their numbers; kills the server when so many have ended.
  static void MakeAndKill(Service& service, int each, size_t ended,
                          std::vector<std::string>& drafts) {
    {
      Caller caller(service.server());
      const size_t first = drafts.size();
      for (int i = 0; i < each; ++i) {
        const Answer made = caller.Create(DraftSpec(drafts.size()));
        ASSERT_TRUE(made.ok()) << made.status.error_message();
        drafts.push_back(made.video.name());
      }
      caller.Await(drafts[first + ended]);
    }
    service.Restart(SIGKILL);
  }
  static void ExpectKept(Caller& caller, const std::string& name) {
    const v1::Video draft = caller.Await(name);
    EXPECT_EQ(draft.state(), v1::VIDEO_STATE_SUCCEEDED) << draft.DebugString();
    EXPECT_GT(draft.state_size_bytes(), 0);
  }
  static void ExpectWhole(Caller& caller, const std::string& promotion, uint64_t seed) {
    const v1::Video promoted = caller.Await(promotion);
    EXPECT_EQ(promoted.state(), v1::VIDEO_STATE_SUCCEEDED) << promoted.DebugString();
    EXPECT_EQ(promoted.media().sha256(), caller.Finish(WholeSpec(seed)).media().sha256());
  }
};

TEST_P(Draft, PromotedIsByteForByteTheWholeVideo) {
  Service& service = Shared();
  Caller caller(service.server());
  const std::string whole = FileOf(service, caller.Finish(WholeSpec()));
  const v1::Video draft = caller.Finish(DraftSpec());
  EXPECT_GT(draft.state_size_bytes(), 0);
  EXPECT_EQ(draft.state_sha256().size(), 64U);
  EXPECT_EQ(draft.state_expire_time().seconds(), draft.expire_time().seconds());
  EXPECT_LT(draft.media().width(), draft.spec().width());
  EXPECT_THAT(draft.notices(), IsEmpty());
  EXPECT_NE(FileOf(service, draft), whole);

  const v1::Video promoted = caller.Finish(PromotionOf(draft.name()));
  EXPECT_EQ(FileOf(service, promoted), whole);
  EXPECT_EQ(promoted.source_video(), draft.name());
  EXPECT_EQ(promoted.spec().source().state_sha256(), draft.state_sha256());
  EXPECT_EQ(promoted.spec().prompt(), "a red fox");
  EXPECT_FALSE(promoted.spec().has_stop_after_pass());
  EXPECT_EQ(promoted.state_size_bytes(), 0);
  EXPECT_THAT(caller.Get(draft.name()).video.continued_by(), ElementsAre(promoted.name()));
}

TEST_P(Draft, PromotedSaysOfItselfWhatTheWholeVideoSays) {
  Service& service = Shared();
  Caller caller(service.server());
  v1::VideoSpec spec = WholeSpec(9);
  spec.mutable_encoding()->set_origin(v1::ORIGIN_SPEC);
  const std::string whole = FileOf(service, caller.Finish(spec));
  EXPECT_THAT(whole, HasSubstr(R"("prompt":"a red fox")"));
  spec.set_stop_after_pass(1);
  const v1::Video promoted = caller.Finish(PromotionOf(caller.Finish(spec).name()));
  EXPECT_EQ(FileOf(service, promoted), whole);
}

TEST_P(Draft, PromotedKeepsItsStateWhereItIsAskedToAndCanBeGoneOnFrom) {
  Service& service = Shared();
  Caller caller(service.server());
  v1::VideoSpec spec = DraftSpec(10);
  spec.set_num_frames(49);
  spec.set_frame_rate(24);
  v1::VideoSpec promotion = PromotionOf(caller.Finish(spec).name());
  promotion.set_keep_state(true);
  const v1::Video film = caller.Finish(promotion);
  EXPECT_GT(film.state_size_bytes(), 0);
  spec.clear_stop_after_pass();
  spec.set_keep_state(true);
  const v1::Video whole = caller.Finish(spec);
  EXPECT_EQ(film.media().sha256(), whole.media().sha256());
  EXPECT_EQ(film.state_sha256(), whole.state_sha256()) << "the same bytes, too";

  v1::VideoSpec next;
  next.set_preset("quick");
  next.set_keep_state(true);
  next.mutable_source()->set_video(film.name());
  next.mutable_source()->mutable_extend()->set_num_frames(8);
  EXPECT_EQ(caller.Finish(next).spec().num_frames(), 33);
  next.mutable_source()->mutable_extend()->set_join(true);
  const v1::Video joined = caller.Finish(next);
  EXPECT_EQ(joined.spec().source().extend().source_frames(), 49);
  EXPECT_EQ(joined.source_video(), film.name());
  next.clear_source();
  next.mutable_source()->set_video(film.name());
  next.mutable_source()->mutable_retake()->mutable_end()->set_seconds(1);
  EXPECT_EQ(caller.Finish(next).spec().prompt(), "a red fox");
  EXPECT_EQ(caller.Get(film.name()).video.continued_by_size(), 3);
  next.clear_preset();
  EXPECT_THAT(caller.Create(next).status.error_message(), HasSubstr("nearest: quick"))
      << "what goes on from it makes one pass";
}

TEST_P(Draft, NeedsAPresetOfSeveralPassesAndAPromotionNothingButItsDraft) {
  Service& service = Shared();
  Caller caller(service.server());
  v1::VideoSpec one_pass = SmallSpec("x");
  one_pass.set_stop_after_pass(1);
  const Answer refused = caller.Create(one_pass);
  EXPECT_EQ(refused.reason(), "INVALID_SPEC");
  EXPECT_THAT(refused.status.error_message(), HasSubstr("spec.stop_after_pass"));
  v1::VideoSpec with_prompt = PromotionOf("videos/prod-unknown");
  EXPECT_EQ(caller.Create(with_prompt).reason(), "VIDEO_NOT_FOUND");
  with_prompt.set_prompt("another");
  EXPECT_THAT(caller.Create(with_prompt).status.error_message(), HasSubstr("spec.prompt"));
  const v1::Video whole = caller.Finish(SmallSpec("x"));
  EXPECT_EQ(caller.Create(PromotionOf(whole.name())).reason(), "STATE_GONE");
}

TEST_P(Draft, IsPromotedOnceForARequestId) {
  Service& service = Shared();
  Caller caller(service.server());
  const v1::Video draft = caller.Finish(DraftSpec(8));
  const std::string id = NewRequestId();
  const std::string name = caller.Create(PromotionOf(draft.name()), id).video.name();
  caller.Await(name);
  EXPECT_TRUE(caller.Delete(draft.name()).ok());
  EXPECT_EQ(caller.Create(PromotionOf(draft.name()), id).video.name(), name);
  EXPECT_EQ(caller.Create(PromotionOf(draft.name())).reason(), "VIDEO_NOT_FOUND");
  v1::VideoSpec other = PromotionOf(draft.name());
  other.mutable_source()->set_state_sha256(std::string(64, 'a'));
  EXPECT_EQ(caller.Create(other, id).reason(), "REQUEST_ID_CONFLICT");
}

TEST_P(Draft, OutlivesItsServerAndItsWorkerAndSoDoesItsPromotion) {
  Service service(GetParam(), {.step_ms = 100});
  v1::Video draft, whole;
  {
    Caller caller(service.server());
    whole = caller.Finish(WholeSpec());
    const std::string name = caller.Create(DraftSpec()).video.name();
    caller.AwaitStep(name);
    service.KillWorkers();
    draft = caller.Await(name);
    ASSERT_EQ(draft.state(), v1::VIDEO_STATE_SUCCEEDED) << draft.DebugString();
    EXPECT_EQ(draft.stats().restarts(), 1);
  }
  service.Restart(SIGKILL);
  std::string promotion;
  {
    Caller caller(service.server());
    promotion = caller.Create(PromotionOf(draft.name())).video.name();
    caller.AwaitStep(promotion);
    service.KillWorkers();
    Service& same = service;
    EXPECT_TRUE(Eventually([&] { return caller.Get(promotion).video.attempt() > 1; }));
    caller.AwaitStep(promotion);
    same.Stop(SIGKILL);
  }
  service.Start();
  Caller caller(service.server());
  const v1::Video video = caller.Await(promotion);
  ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
  EXPECT_EQ(video.media().sha256(), whole.media().sha256());
  EXPECT_EQ(FileOf(service, video).size(), static_cast<size_t>(whole.media().size_bytes()));
}

// Kills come when they come: at the end of a draft, too, when its state is on its way.
TEST_P(Draft, ManyOfWhichSomeArePromotedUnderKillsAllKeepWhatTheySay) {
  Service service(GetParam(), {.step_ms = 5});
  std::vector<std::string> drafts;
  for (int round = 0; round < 4; ++round) {
    // Another moment each round: after the first has ended, after the second, ...
    ASSERT_NO_FATAL_FAILURE(MakeAndKill(service, 6, static_cast<size_t>(round), drafts));
  }
  Caller caller(service.server());
  for (size_t i = 0; i < drafts.size(); ++i) {
    ExpectKept(caller, drafts[i]);
    if (i % 4 == 0) ExpectWhole(caller, caller.Create(PromotionOf(drafts[i])).video.name(), i);
  }
}

// The same with more of all, and with kills while drafts are promoted.
class LongDraft : public Draft {};
TEST_P(LongDraft, TwoHundredOfWhichTenArePromotedUnderKillsAllKeepWhatTheySay) {
  constexpr int kRounds = 20, kEach = 10;
  constexpr size_t kPromoted = 10;
  Service service(GetParam(), {.step_ms = 2});
  const absl::Time begin = absl::Now();
  std::vector<std::string> drafts, promotions;
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(
        MakeAndKill(service, kEach, static_cast<size_t>(round % kEach), drafts));
  }
  for (size_t i = 0; i < kPromoted; ++i) {
    const size_t draft = i * drafts.size() / kPromoted;
    {
      Caller caller(service.server());
      caller.Await(drafts[draft]);
      promotions.push_back(caller.Create(PromotionOf(drafts[draft])).video.name());
      if (i % 2 == 0) caller.AwaitStep(promotions.back());
    }
    service.Restart(SIGKILL);
  }
  Caller caller(service.server());
  for (const std::string& draft : drafts) ExpectKept(caller, draft);
  for (size_t i = 0; i < kPromoted; ++i) {
    ExpectWhole(caller, promotions[i], i * drafts.size() / kPromoted);
  }
  EXPECT_EQ(caller.Names().size(), drafts.size() + 2 * kPromoted);
  std::cout << "FIGURE " << drafts.size() << " drafts, " << kPromoted << " promoted, "
            << kRounds + static_cast<int>(kPromoted) << " kills of the server: none lost, each "
            << "promotion its whole video, in " << absl::ToInt64Seconds(absl::Now() - begin)
            << " s\n";
}

TEST_P(Draft, IsGoneForPromotionsWhenItsStateHasExpiredOrItselfIsDeleted) {
  Service service(GetParam(), {.step_ms = 5, .more = "state { max_age { seconds: 2 } }"});
  Caller caller(service.server());
  const v1::Video draft = caller.Finish(DraftSpec());
  EXPECT_EQ(draft.state_expire_time().seconds() - draft.end_time().seconds(), 2);
  EXPECT_TRUE(Eventually(
      [&] { return caller.Create(PromotionOf(draft.name())).reason() == "STATE_GONE"; }));
  EXPECT_GE(absl::ToUnixSeconds(absl::Now()), draft.state_expire_time().seconds());
  EXPECT_TRUE(caller.Get(draft.name()).ok());
  EXPECT_TRUE(caller.Delete(draft.name()).ok());
  EXPECT_EQ(caller.Create(PromotionOf(draft.name())).reason(), "VIDEO_NOT_FOUND");
}

TEST_P(Draft, AServerThatKeepsNoStatesMakesDraftsThatNobodyCanPromote) {
  Service service(GetParam(), {.step_ms = 5, .more = "state { keep: 'never' }"});
  Caller caller(service.server());
  const v1::Video draft = caller.Finish(DraftSpec());
  EXPECT_EQ(draft.state_size_bytes(), 0);
  EXPECT_EQ(caller.Create(PromotionOf(draft.name())).reason(), "STATE_GONE");
  v1::VideoSpec asks = DraftSpec();
  asks.set_keep_state(true);
  EXPECT_THAT(caller.Create(asks).status.error_message(), HasSubstr("spec.keep_state"));
}

TEST_P(Draft, BelongsToItsTenantAndCountsInItsBytes) {
  testing::TempFolder folder;
  const std::string tokens = folder.Write(
      "tokens", Sha256Hex("anna") + " anna user\n" + Sha256Hex("bert") + " bert user\n");
  ::chmod(tokens.c_str(), 0600);
  Service service(GetParam(),
                  {.step_ms = 5,
                   .more = absl::StrCat("auth { tokens_file: '", tokens,
                                        "' tenants { name: 'bert' max_stored_bytes: 1 } }")});
  Caller anna(service.server(), "anna"), bert(service.server(), "bert");
  const v1::Video draft = anna.Finish(DraftSpec());
  EXPECT_EQ(bert.Create(PromotionOf(draft.name())).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(bert.Create(DraftSpec()).reason(), "TENANT_QUOTA");
  const v1::Video promoted = anna.Finish(PromotionOf(draft.name()));
  // Who has room for the files alone has none for the state.
  const int64_t files = draft.media().size_bytes() + promoted.media().size_bytes();
  service.Configure(
      {.step_ms = 5,
       .more = absl::StrCat("auth { tokens_file: '", tokens,
                            "' tenants { name: 'anna' max_stored_bytes: ", files, " } }")});
  service.Restart(SIGTERM);
  Caller again(service.server(), "anna");
  const Answer refused = again.Create(DraftSpec());
  EXPECT_EQ(refused.reason(), "TENANT_QUOTA");
  EXPECT_TRUE(Eventually([&] {
    const std::string why = again.Create(DraftSpec()).status.error_message();
    return why.find(absl::StrCat(" ", files + draft.state_size_bytes(), " are held")) !=
           std::string::npos;
  }));
}

REEL_EVERY_LIFE(Draft);
INSTANTIATE_TEST_SUITE_P(LongAlone, LongDraft, ::testing::Values(Life::kAlone));
INSTANTIATE_TEST_SUITE_P(LongFleet, LongDraft, ::testing::Values(Life::kFleet));

}  // namespace
}  // namespace reel::tests
