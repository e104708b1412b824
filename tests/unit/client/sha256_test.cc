// SPDX-License-Identifier: Apache-2.0
#include "client/sha256.h"

#include <gtest/gtest.h>

namespace reel::client {
namespace {

constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, GivesTheKnownAnswerInPieces) {
  Sha256 sha256;
  sha256.Update("a");
  sha256.Update("");
  sha256.Update("bc");
  EXPECT_EQ(sha256.Hex(), kAbc);
}

TEST(Sha256, BeginsAnewAfterReset) {
  Sha256 sha256;
  sha256.Update("of a run that does not count");
  sha256.Reset();
  sha256.Update("abc");
  EXPECT_EQ(sha256.Hex(), kAbc);
}

}  // namespace
}  // namespace reel::client
