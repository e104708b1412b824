// SPDX-License-Identifier: Apache-2.0
#include "server/digest/sha256.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

TEST(Sha256, GivesTheKnownDigests) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, PiecesEqualTheWhole) {
  Sha256 hash;
  hash.Update("a");
  Sha256 moved = std::move(hash);
  moved.Update("");
  moved.Update("bc");
  EXPECT_EQ(moved.Finish(), Sha256Hex("abc"));
}

}  // namespace
}  // namespace reel
