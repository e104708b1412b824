// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/page_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"

namespace reel::front {
namespace {

const PagePosition kPosition{absl::FromUnixNanos(1'700'000'000'123'456'789), "r1-abcdef"};
const std::vector<VideoState> kFilter = {VideoState::kQueued, VideoState::kFailed};

TEST(PageToken, ComesBackAsItWas) {
  const auto parsed = ParsePageToken(MakePageToken(kPosition, kFilter), kFilter);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->time, kPosition.time);
  EXPECT_EQ(parsed->id, kPosition.id);
}

TEST(PageToken, TheOrderOfStatesDoesNotMatter) {
  const std::string token = MakePageToken(kPosition, kFilter);
  EXPECT_TRUE(ParsePageToken(token, {VideoState::kFailed, VideoState::kQueued}).ok());
}

TEST(PageToken, AnotherFilterIsRefused) {
  const std::string token = MakePageToken(kPosition, kFilter);
  for (const std::vector<VideoState>& other :
       {std::vector<VideoState>{}, {VideoState::kQueued}, {VideoState::kSucceeded}}) {
    const auto parsed = ParsePageToken(token, other);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(parsed.status()), Reason::kInvalidRequest);
    EXPECT_THAT(std::string(parsed.status().message()), ::testing::HasSubstr("page_token"));
  }
}

TEST(PageToken, EveryChangedCharacterIsNoticed) {
  const std::string token = MakePageToken(kPosition, kFilter);
  for (size_t i = 0; i < token.size(); ++i) {
    std::string damaged = token;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    const auto parsed = ParsePageToken(damaged, kFilter);
    // The last character may carry bits that no byte uses.
    if (parsed.ok()) {
      EXPECT_GE(i + 1, token.size());
      EXPECT_EQ(parsed->id, kPosition.id);
    }
  }
}

TEST(PageToken, WhatIsNoneIsRefused) {
  for (const std::string& text :
       {std::string("x"), std::string("AAAA"), std::string(100'000, 'A'), std::string("\0\1\2", 3),
        MakePageToken(kPosition, kFilter) + "AAAA", MakePageToken(kPosition, kFilter).substr(4)}) {
    EXPECT_FALSE(ParsePageToken(text, kFilter).ok());
  }
}

}  // namespace
}  // namespace reel::front
