// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "server/front/http/event_body.h"

namespace reel::front {
namespace {

TEST(ProgressTexts, AreMadeOnceForAllReadersOfAnEvent) {
  ProgressTexts texts;
  int made = 0;
  const auto ask = [&](const std::string& video, uint64_t sequence) {
    return *texts.Of(video, sequence, [&] {
      ++made;
      return video + " " + std::to_string(sequence);
    });
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("a", 7), "a 7");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(ask("a", 8), "a 8");
  EXPECT_EQ(ask("b", 7), "b 7");
  EXPECT_EQ(made, 3);
}

TEST(ProgressTexts, AreBoundedAndNeverThoseOfAnother) {
  ProgressTexts texts;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 500; ++i) {
      const std::string own = std::to_string(i);
      EXPECT_EQ(*texts.Of("video", i, [&] { return own; }), own);
    }
  }
}

}  // namespace
}  // namespace reel::front
