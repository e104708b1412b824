// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/digest/sha256.h"

#include <gtest/gtest.h>

#include <utility>

namespace reel {
namespace {

constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, GivesTheKnownDigests) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), kAbc);
}

TEST(Sha256, PiecesEqualTheWhole) {
  Sha256 hash;
  hash.Update("a");
  Sha256 moved = std::move(hash);
  moved.Update("");
  moved.Update("bc");
  EXPECT_EQ(moved.Hex(), kAbc);
}

TEST(Sha256, BeginsAnewAfterReset) {
  Sha256 hash;
  hash.Update("of a run that does not count");
  hash.Reset();
  hash.Update("abc");
  EXPECT_EQ(hash.Hex(), kAbc);
}

TEST(Sha256, GivesTheSameAsBytes) {
  const Sha256Digest digest = Sha256Of("abc");
  EXPECT_EQ(digest[0], 0xBA);
  EXPECT_EQ(digest[31], 0xAD);
}

TEST(Sha256, IsToldFromOtherTextsByItsDigits) {
  const std::string hash = Sha256Hex("abc");
  EXPECT_TRUE(IsSha256Hex(hash));
  EXPECT_FALSE(IsSha256Hex(hash.substr(1)));
  EXPECT_FALSE(IsSha256Hex(hash + "0"));
  EXPECT_FALSE(IsSha256Hex("A" + hash.substr(1)));
  EXPECT_FALSE(IsSha256Hex("g" + hash.substr(1)));
}

}  // namespace
}  // namespace reel
