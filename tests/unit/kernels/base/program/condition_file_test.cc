// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/condition_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/fakes/temp_folder.h"

namespace reel {
namespace {

TEST(ParseConditionFile, WhatStandsBehindTheLastAtIsThePlace) {
  const auto whole = ParseConditionFile("a.png");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->path, "a.png");
  EXPECT_EQ(whole->frame_index, 0);
  EXPECT_EQ(whole->strength, 1);
  const auto placed = ParseConditionFile("b@c:d.png@16:0.5");
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->path, "b@c:d.png");
  EXPECT_EQ(placed->frame_index, 16);
  EXPECT_EQ(placed->strength, 0.5);
  EXPECT_EQ(ParseConditionFile("c.mp4@24")->frame_index, 24);
}

TEST(ParseConditionFile, APlaceThatIsNoneIsRefused) {
  for (const char* text : {"", "@0", "a@", "a@x", "a@1x", "a@0:", "a@0:much", "a@99999999999"}) {
    EXPECT_FALSE(ParseConditionFile(text)) << text;
  }
}

TEST(ReadConditionFile, AFileAboveTheLimitIsNotRead) {
  const reel::testing::TempFolder folder;
  const std::string path = folder.File("a.png");
  std::ofstream(path) << "12345";
  EXPECT_EQ(ReadConditionFile(path, 5).value(), "12345");
  const absl::Status status = ReadConditionFile(path, 4).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "A condition is too large: " + path + ": 5 bytes, above 4");
}

TEST(IsClip, KnowsAnMp4ByItsFirstBox) {
  EXPECT_TRUE(IsClip(std::string("\0\0\0\x1c", 4) + "ftypisomiso5"));
  EXPECT_FALSE(IsClip("\x89PNG\r\n\x1a\n and so on"));
  EXPECT_FALSE(IsClip(""));
}

}  // namespace
}  // namespace reel
