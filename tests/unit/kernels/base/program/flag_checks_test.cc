// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/flag_checks.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

TEST(FlagChecks, ASeedIsAWholeNumberOf64Bits) {
  for (const char* good : {"0", "7", "18446744073709551615"}) {
    EXPECT_EQ(WhyNotSeed(good), "") << good;
  }
  for (const char* bad : {"-1", "18446744073709551616", "100000000000000000000", "1.5", "x", ""}) {
    EXPECT_NE(WhyNotSeed(bad), "") << bad;
  }
}

TEST(FlagChecks, ATypedZeroIsNotTheDefault) {
  for (const char* bad : {"0", "0.0", "-1", "nan"}) EXPECT_NE(WhyNotAboveZero(bad), "") << bad;
  for (const char* good : {"1", "0.5", "words"}) EXPECT_EQ(WhyNotAboveZero(good), "") << good;
  EXPECT_NE(WhyEmpty(""), "");
  EXPECT_EQ(WhyEmpty(" "), "");
}

TEST(FlagChecks, AnMp4IsNotCalledAnythingElse) {
  for (const char* good : {"a.mp4", "A.MP4", "a.m4v", "-", "a", "/dev/null", "dir.gif/a", ".mp4"}) {
    EXPECT_EQ(WhyNotMp4(good), "") << good;
  }
  for (const char* bad : {"a.gif", "a.mp4.webm", "a.mp", "dir/a.mkv"}) {
    EXPECT_NE(WhyNotMp4(bad), "") << bad;
  }
}

}  // namespace
}  // namespace reel
