// SPDX-License-Identifier: Apache-2.0
// A video that runs on another node, as a stream here sees it.
#include "server/front/node/forwarding.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/forwarding_fixture.h"

namespace reel::front {
namespace {

using ForwardingTest = ForwardingFixture;

TEST_F(ForwardingTest, NobodyIsAskedBeforeSomebodyReads) {
  const auto face = Face(ClaimedBy("b", 1));
  Pass(*face, absl::Seconds(1));
  EXPECT_TRUE(peers_->calls.empty());
  Read(*face);
  Read(*face);
  ASSERT_EQ(peers_->calls.size(), 1U);
  const PeerAsk& ask = peers_->last().ask;
  EXPECT_EQ(ask.address, "b:7");
  EXPECT_EQ(ask.tenant, kTenant);
  EXPECT_EQ(ask.id, kVideo);
  EXPECT_EQ(ask.after_sequence, 0U);
  EXPECT_EQ(ask.media_offset, 0);
}

TEST_F(ForwardingTest, AStreamHasWhatTheOwnerTellsAndIsWoken) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  PeerSink& owner = *peers_->last().sink;
  const int before = wakes_->count;
  ASSERT_TRUE(owner.OnEntry({1, absl::Now(), AcceptedEvent{}}).ok());
  ASSERT_TRUE(owner.OnEntry(ProgressAt(2, model::Stage::kDenoise, 1)).ok());
  ASSERT_TRUE(owner.OnMedia(Piece(1, 0, "abc")).ok());
  ASSERT_TRUE(owner.OnMedia(Piece(1, 3, "def")).ok());
  EXPECT_GE(wakes_->count, before + 3);
  EXPECT_EQ(StepAfter(*face, 1), 1);
  EXPECT_EQ(face->Snapshot().progress.step, 1);
  EXPECT_EQ(face->Snapshot().media.content_type, "video/mp4");
  EXPECT_EQ(face->state(), VideoState::kRunning);
  EXPECT_EQ(face->media_size(), 6);
  // Never past a fragment's end.
  EXPECT_EQ(BytesAt(*face, 1), "bc");
  EXPECT_TRUE(face->ReadMedia(1, 1000)->fragment_end);
  EXPECT_EQ(BytesAt(*face, 3), "def");
  EXPECT_EQ(BytesAt(*face, 6), "");
}

TEST_F(ForwardingTest, ABrokenStreamGoesOnWhereItWas) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  ASSERT_TRUE(peers_->last().sink->OnEntry(ProgressAt(5, model::Stage::kDenoise, 1)).ok());
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 0, "abc")).ok());
  peers_->last().sink->OnEnd(absl::UnavailableError("gone"));
  Pass(*face, absl::Seconds(1));
  ASSERT_EQ(peers_->calls.size(), 2U);
  const PeerAsk& ask = peers_->last().ask;
  EXPECT_EQ(ask.after_sequence, 5U);
  EXPECT_EQ(ask.attempt, 1);
  EXPECT_EQ(ask.media_offset, 3);
  // What comes twice counts once.
  ASSERT_TRUE(peers_->last().sink->OnEntry(ProgressAt(5, model::Stage::kDenoise, 9)).ok());
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 2, "cde")).ok());
  EXPECT_EQ(StepAfter(*face, 1), 1);
  EXPECT_EQ(face->media_size(), 5);
  EXPECT_EQ(BytesAt(*face, 3), "de");
}

TEST_F(ForwardingTest, WhoDoesNotAnswerIsAskedLessAndLessOften) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  const auto fail_for = [&](absl::Duration time) {
    const size_t before = peers_->calls.size();
    for (absl::Duration passed; passed < time; passed += kTickStep) {
      if (peers_->last().is_open) peers_->last().sink->OnEnd(absl::UnavailableError("gone"));
      Pass(*face, kTickStep);
    }
    return peers_->calls.size() - before;
  };
  EXPECT_GE(fail_for(absl::Seconds(2)), 3U);
  fail_for(absl::Seconds(10));
  EXPECT_LE(fail_for(absl::Seconds(10)), 6U);
  // It is never given up: the view says when another takes over.
  EXPECT_GE(fail_for(absl::Minutes(1)), 20U);
}

TEST_F(ForwardingTest, AnotherOwnerIsToldOnceAndReadFromItsBeginning) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  const auto of_b = peers_->calls.back();
  ASSERT_TRUE(of_b->sink->OnEntry(ProgressAt(5, model::Stage::kDenoise, 1)).ok());
  ASSERT_TRUE(of_b->sink->OnMedia(Piece(1, 0, "old")).ok());
  face->Update(ClaimedBy("c", 2), AVideo());
  EXPECT_FALSE(of_b->is_open);
  ASSERT_EQ(peers_->calls.size(), 2U);
  EXPECT_EQ(peers_->last().ask.address, "c:7");
  EXPECT_EQ(peers_->last().ask.after_sequence, 0U);
  EXPECT_EQ(peers_->last().ask.media_offset, 0);
  // The last words of the one before are no news.
  ASSERT_TRUE(of_b->sink->OnMedia(Piece(1, 3, "late")).ok());
  EXPECT_EQ(BytesAt(*face, 0), "");
  const auto restarted = face->NextEntry(5);
  ASSERT_TRUE(restarted.has_value());
  ASSERT_TRUE(std::holds_alternative<RestartedEvent>(restarted->event));
  EXPECT_EQ(std::get<RestartedEvent>(restarted->event).attempt, AttemptOf(2));
  // The new owner tells the same, which is the same entry.
  ASSERT_TRUE(peers_->last()
                  .sink
                  ->OnEntry({restarted->sequence, absl::Now(),
                             RestartedEvent{"NODE_CHANGED", AttemptOf(2)}})
                  .ok());
  EXPECT_FALSE(face->NextEntry(restarted->sequence).has_value());
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(AttemptOf(2), 0, "new")).ok());
  EXPECT_EQ(face->attempt(), AttemptOf(2));
  EXPECT_EQ(BytesAt(*face, 0), "new");
}

TEST_F(ForwardingTest, TheFractionDoesNotFallWithAnotherOwner) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  LogEntry entry = ProgressAt(5, model::Stage::kDenoise, 1);
  std::get<ProgressEvent>(entry.event).progress.fraction = 0.5;
  ASSERT_TRUE(peers_->last().sink->OnEntry(entry).ok());
  face->Update(ClaimedBy("c", 2), AVideo());
  const uint64_t first = face->NextEntry(5)->sequence;
  entry.sequence = first + 1;
  std::get<ProgressEvent>(entry.event).progress.fraction = 0.1;
  ASSERT_TRUE(peers_->last().sink->OnEntry(entry).ok());
  const auto told = face->NextEntry(first);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(std::get<ProgressEvent>(told->event).progress.fraction, 0.5);
  EXPECT_EQ(face->Snapshot().progress.fraction, 0.5);
}

TEST_F(ForwardingTest, ARestartAtTheOwnerBeginsTheFileAnew) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  PeerSink& owner = *peers_->last().sink;
  ASSERT_TRUE(owner.OnMedia(Piece(1, 0, "first")).ok());
  ASSERT_TRUE(owner.OnEntry({8, absl::Now(), RestartedEvent{"WORKER_LOST", 2}}).ok());
  EXPECT_EQ(face->attempt(), 2);
  EXPECT_EQ(face->media_size(), 0);
  EXPECT_TRUE(std::holds_alternative<RestartedEvent>(face->NextEntry(7)->event));
  ASSERT_TRUE(owner.OnMedia(Piece(2, 0, "second")).ok());
  EXPECT_EQ(BytesAt(*face, 0), "second");
  EXPECT_EQ(spool_->bytes(), 6);  // the other file is gone
}

TEST_F(ForwardingTest, TheEndIsToldWhenAllBeforeItIsHere) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  PeerSink& owner = *peers_->last().sink;
  ASSERT_TRUE(owner.OnMedia(Piece(1, 0, "abc")).ok());
  face->Update(SucceededAt("b", 1, 9), Finished(6));
  EXPECT_EQ(peers_->calls.size(), 1U);  // the same stream goes on
  EXPECT_EQ(face->state(), VideoState::kSucceeded);
  EXPECT_EQ(face->media_size(), 6);
  EXPECT_FALSE(face->NextEntry(1).has_value());
  EXPECT_EQ(BytesAt(*face, 0), "abc");
  EXPECT_TRUE(face->ReadMedia(3, 10)->pending);
  EXPECT_FALSE(face->ReadMedia(6, 10)->pending);
  EXPECT_EQ(ReasonOf(face->ReadMedia(7, 10).status()), Reason::kOffsetPastEnd);
  ASSERT_TRUE(owner.OnMedia(Piece(1, 3, "def")).ok());
  ASSERT_TRUE(owner.OnEntry({9, absl::Now(), FinishedEvent{}}).ok());
  EXPECT_EQ(BytesAt(*face, 3), "def");
  const auto finished = face->NextEntry(1);
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->sequence, 9U);
  EXPECT_TRUE(std::holds_alternative<FinishedEvent>(finished->event));
  // That its stream has ended is no reason to ask again.
  owner.OnEnd(absl::OkStatus());
  Pass(*face, absl::Seconds(30));
  EXPECT_EQ(peers_->calls.size(), 1U);
}

TEST_F(ForwardingTest, TheOwnersWordOfTheEndWaitsForTheView) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 0, "abc")).ok());
  ASSERT_TRUE(peers_->last().sink->OnEntry({9, absl::Now(), FinishedEvent{}}).ok());
  EXPECT_FALSE(face->NextEntry(1).has_value());
  EXPECT_EQ(face->state(), VideoState::kRunning);
  face->Update(SucceededAt("b", 1, 9), Finished(3));
  EXPECT_EQ(face->NextEntry(1)->sequence, 9U);
}

TEST_F(ForwardingTest, AFileWhoseServerIsSilentIsGivenUpWithWords) {
  const auto face = Face(SucceededAt("b", 1, 9), Finished(6));
  Read(*face);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 0, "abc")).ok());
  EXPECT_TRUE(face->ReadMedia(3, 10)->pending);
  Pass(*face, absl::Seconds(9));
  EXPECT_TRUE(face->ReadMedia(3, 10)->pending);
  const int before = wakes_->count;
  Pass(*face, absl::Seconds(2));
  EXPECT_GT(wakes_->count, before);
  EXPECT_EQ(BytesAt(*face, 0), "abc");
  EXPECT_EQ(ReasonOf(face->ReadMedia(3, 10).status()), Reason::kWrongReplica);
  // Who wants no file has its end.
  EXPECT_TRUE(std::holds_alternative<FinishedEvent>(face->NextEntry(1)->event));
}

TEST_F(ForwardingTest, ALongSilenceBeforeTheEndIsNoReasonToGiveUp) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  Pass(*face, absl::Minutes(2));
  face->Update(SucceededAt("b", 1, 9), Finished(6));
  Pass(*face, absl::Seconds(5));
  EXPECT_TRUE(face->ReadMedia(0, 10)->pending);
}

TEST_F(ForwardingTest, ADamagedFileIsGivenUpAtOnce) {
  const auto face = Face(SucceededAt("b", 1, 9), Finished(6));
  Read(*face);
  peers_->last().sink->OnEnd(absl::DataLossError("damaged"));
  Pass(*face, kTickStep);
  EXPECT_EQ(ReasonOf(face->ReadMedia(0, 10).status()), Reason::kWrongReplica);
}

TEST_F(ForwardingTest, AHoleEndsTheStream) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 0, "abc")).ok());
  EXPECT_TRUE(absl::IsDataLoss(peers_->last().sink->OnMedia(Piece(1, 4, "e"))));
  EXPECT_EQ(face->media_size(), 3);
}

TEST_F(ForwardingTest, WhatIsRenderedHereIsHeardFromNobody) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  face->Update(ClaimedBy("here", 2), AVideo());
  EXPECT_FALSE(peers_->last().is_open);
  EXPECT_EQ(peers_->calls.size(), 1U);
}

TEST_F(ForwardingTest, WhatWaitsAndWhatHasFailedIsHeardFromNobody) {
  FleetJob queued = ClaimedBy("b", 1);
  queued.phase = FleetPhase::kQueued;
  const auto face = Face(queued);
  Read(*face);
  EXPECT_TRUE(peers_->calls.empty());
  face->Update(ClaimedBy("c", 2), AVideo());
  EXPECT_EQ(peers_->calls.size(), 1U);
  FleetJob failed = ClaimedBy("c", 2);
  failed.phase = FleetPhase::kFailed;
  face->Update(failed, AVideo());
  EXPECT_FALSE(peers_->last().is_open);
}

TEST_F(ForwardingTest, TheStreamIsBrokenOffWithTheLastReader) {
  auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  face.reset();
  EXPECT_FALSE(peers_->last().is_open);
}

TEST_F(ForwardingTest, TheSpoolIsBoundedAndGivenBack) {
  auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  const std::string bytes(600, 'x');
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 0, bytes)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(peers_->last().sink->OnMedia(Piece(1, 600, bytes))));
  EXPECT_EQ(spool_->bytes(), 600);
  EXPECT_EQ(BytesAt(*face, 0), bytes);
  face.reset();
  peers_->calls.clear();
  EXPECT_EQ(spool_->bytes(), 0);
}

TEST_F(ForwardingTest, ACopyOfALogIsAsShortAsTheOwners) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face);
  PeerSink& owner = *peers_->last().sink;
  ASSERT_TRUE(owner.OnEntry(ProgressAt(2, model::Stage::kTextEncode, 1)).ok());
  for (uint64_t i = 3; i < 20'000; ++i) {
    ASSERT_TRUE(owner.OnEntry(ProgressAt(i, model::Stage::kDenoise, static_cast<int>(i))).ok());
    ASSERT_TRUE(owner.OnEntry({++i, absl::Now(), PreviewEvent{1, "jpeg", 8, 8}}).ok());
  }
  int entries = 0;
  for (auto entry = face->NextEntry(1); entry; entry = face->NextEntry(entry->sequence)) ++entries;
  EXPECT_EQ(entries, 3);
}

}  // namespace
}  // namespace reel::front
