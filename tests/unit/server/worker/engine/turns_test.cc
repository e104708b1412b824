// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/turns.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

using Beside = Turns::Beside;

constexpr absl::Duration kLong = absl::Milliseconds(350), kShort = absl::Milliseconds(4),
                         kPiece = absl::Milliseconds(100);

TEST(Turns, APieceComesFirst) {
  const Turns turns;
  for (const Beside piece : {Beside::kAhead, Beside::kDecoding}) {
    EXPECT_FALSE(turns.StepIsDue(piece, kLong));
    EXPECT_FALSE(turns.StepIsDue(piece, absl::ZeroDuration()));
  }
}

TEST(Turns, WhoGoesAheadHasAsManyPiecesAsTakeNoLongerThanAStep) {
  Turns turns;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(turns.StepIsDue(Beside::kAhead, kLong)) << i;
    turns.Moved(Beside::kAhead, kPiece);
  }
  EXPECT_TRUE(turns.StepIsDue(Beside::kAhead, kLong));
  turns.Stepped(kLong);
  EXPECT_FALSE(turns.StepIsDue(Beside::kAhead, kLong));
}

TEST(Turns, OfLongPiecesOneComesBetweenTwoSteps) {
  Turns turns;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(turns.StepIsDue(Beside::kAhead, kShort)) << i;
    turns.Moved(Beside::kAhead, kPiece);
    EXPECT_TRUE(turns.StepIsDue(Beside::kAhead, kShort)) << i;
    turns.Stepped(kShort);
  }
}

TEST(Turns, FramesOfOthersArePaidForInSteps) {
  Turns turns;
  turns.Moved(Beside::kDecoding, kPiece);
  int steps = 0;
  for (; turns.StepIsDue(Beside::kDecoding, kShort); ++steps) turns.Stepped(kShort);
  EXPECT_EQ(steps, 25);
  turns.Moved(Beside::kDecoding, kPiece);
  turns.Stepped(kLong);
  EXPECT_FALSE(turns.StepIsDue(Beside::kDecoding, kLong)) << "nothing is saved up";
  turns.Moved(Beside::kDecoding, kPiece);
  EXPECT_TRUE(turns.StepIsDue(Beside::kDecoding, kLong));
}

TEST(Turns, WhoGoesAheadDoesNotWaitForWhatOthersOwe) {
  Turns turns;
  turns.Moved(Beside::kDecoding, kPiece);
  EXPECT_FALSE(turns.StepIsDue(Beside::kAhead, kShort));
}

}  // namespace
}  // namespace reel::worker
