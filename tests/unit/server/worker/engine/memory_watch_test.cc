// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/memory_watch.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

class MemoryWatchTest : public ::testing::Test {
 protected:
  // A piece that finds, reaches and leaves so much, and what is remembered before and after it.
  MemoryWatch::Growth Piece(int64_t before, int64_t peak, int64_t after, int64_t kept_before = 0,
                            int64_t kept_after = 0) {
    now_ = {.held = before, .reserved = before, .in_use = before, .peak = before};
    watch_.Begin(kept_before);
    now_ = {.held = after, .reserved = after, .in_use = after, .peak = peak};
    return watch_.End(kept_after);
  }

  model::DeviceMemory now_;
  MemoryWatch watch_{[this] { return now_; }};
};

TEST_F(MemoryWatchTest, TellsWhatAPieceAddedAtItsFullestAndForGood) {
  const auto growth = Piece(100, 180, 130);
  EXPECT_EQ(growth.peak, 80);
  EXPECT_EQ(growth.stays, 30);
  EXPECT_EQ(Piece(130, 130, 90).stays, -40);
}

TEST_F(MemoryWatchTest, WhatIsRememberedCountsForNobody) {
  const auto growth = Piece(100, 180, 150, 0, 50);
  EXPECT_EQ(growth.peak, 30);
  EXPECT_EQ(growth.stays, 0);
  // Given up during the piece.
  EXPECT_EQ(Piece(150, 160, 110, 50, 0).stays, 10);
}

TEST_F(MemoryWatchTest, TellsAChangeOnceAndNoPeakOfOneReading) {
  EXPECT_FALSE(watch_.TakeChanged());
  now_ = {.held = 5, .peak = 7};
  watch_.Read(0);
  EXPECT_TRUE(watch_.TakeChanged());
  now_.peak = 6;
  watch_.Read(0);
  EXPECT_FALSE(watch_.TakeChanged());
  watch_.Read(1);
  EXPECT_TRUE(watch_.TakeChanged());
}

TEST(MemoryWatch, OfNothingIsZero) {
  MemoryWatch watch(nullptr);
  EXPECT_FALSE(watch.reads());
  watch.Begin(1);
  EXPECT_EQ(watch.End(2).peak, 0);
  EXPECT_FALSE(watch.TakeChanged());
}

}  // namespace
}  // namespace reel::worker
