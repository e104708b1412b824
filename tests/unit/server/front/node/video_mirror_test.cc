// SPDX-License-Identifier: Apache-2.0
// Copies that begin in the middle of a file.
#include <gtest/gtest.h>

#include "server/front/node/forwarding.h"
#include "tests/unit/server/front/node/forwarding_fixture.h"

namespace reel::front {
namespace {

using VideoMirrorTest = ForwardingFixture;

TEST_F(VideoMirrorTest, ACopyBeginsWhereItsFirstReaderDoes) {
  const auto face = Face(SucceededAt("b", 1, 9), Finished(6));
  Read(*face, 4);
  ASSERT_EQ(peers_->calls.size(), 1U);
  EXPECT_EQ(peers_->last().ask.media_offset, 4);
  EXPECT_TRUE(face->ReadMedia(4, 10)->pending);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 4, "ef")).ok());
  EXPECT_EQ(BytesAt(*face, 4), "ef");
  EXPECT_EQ(BytesAt(*face, 5), "f");
  EXPECT_EQ(spool_->bytes(), 2);
  Read(*face, 5);
  EXPECT_EQ(peers_->calls.size(), 1U);
  // Who wants what comes before has it copied from there.
  const auto first = peers_->calls.back();
  EXPECT_TRUE(face->ReadMedia(2, 10)->pending);
  EXPECT_FALSE(first->is_open);
  ASSERT_EQ(peers_->calls.size(), 2U);
  EXPECT_EQ(peers_->last().ask.media_offset, 2);
  EXPECT_EQ(peers_->last().ask.after_sequence, 0U);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 2, "cdef")).ok());
  EXPECT_EQ(BytesAt(*face, 2), "cdef");
  EXPECT_EQ(BytesAt(*face, 4), "ef");
}

TEST_F(VideoMirrorTest, ABrokenCopyFromTheMiddleGoesOnWhereItWas) {
  const auto face = Face(SucceededAt("b", 1, 9), Finished(6));
  Read(*face, 2);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 2, "cd")).ok());
  peers_->last().sink->OnEnd(absl::UnavailableError("gone"));
  Pass(*face, absl::Seconds(1));
  ASSERT_EQ(peers_->calls.size(), 2U);
  EXPECT_EQ(peers_->last().ask.media_offset, 4);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 4, "ef")).ok());
  EXPECT_EQ(BytesAt(*face, 4), "ef");
}

TEST_F(VideoMirrorTest, APlaceInOneAttemptsFileSaysNothingOfAnothers) {
  const auto face = Face(ClaimedBy("b", 1));
  Read(*face, 4);
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(1, 4, "ef")).ok());
  ASSERT_TRUE(
      peers_->last().sink->OnEntry({8, absl::Now(), RestartedEvent{"WORKER_LOST", 2}}).ok());
  ASSERT_TRUE(peers_->last().sink->OnMedia(Piece(2, 0, "new")).ok());
  EXPECT_EQ(BytesAt(*face, 0), "new");
  EXPECT_EQ(peers_->calls.size(), 1U);
  face->Update(ClaimedBy("c", 2), AVideo());
  EXPECT_EQ(peers_->last().ask.media_offset, 0);
}

TEST_F(VideoMirrorTest, WhoReadsTheLogAloneHasItSoon) {
  const auto face = Face(ClaimedBy("b", 1));
  face->Listen(wakes_);
  Pass(*face, kTickStep);
  ASSERT_EQ(peers_->calls.size(), 1U);
  EXPECT_EQ(peers_->last().ask.after_sequence, 0U);
}

}  // namespace
}  // namespace reel::front
