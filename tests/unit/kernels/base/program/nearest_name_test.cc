// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/nearest_name.h"

#include <gtest/gtest.h>

namespace reel::server {
namespace {

TEST(NearestName, FindsTheTypingMistake) {
  const std::vector<std::string> names = {"listen", "metrics_listen", "models", "workers"};
  EXPECT_EQ(NearestName("lisen", names), "listen");
  EXPECT_EQ(NearestName("litsen", names), "listen");
  EXPECT_EQ(NearestName("listenn", names), "listen");
  EXPECT_EQ(NearestName("metric_listen", names), "metrics_listen");
  EXPECT_EQ(NearestName("model", names), "models");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("colour", {"listen", "models"}), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(NearestName(std::string(1000, 'a'), {"a"}), "");
}

TEST(IsLegalName, HoldsTheRule) {
  EXPECT_TRUE(IsLegalName("a"));
  EXPECT_TRUE(IsLegalName("ltx-0.9.5_b"));
  EXPECT_TRUE(IsLegalName(std::string(63, 'a')));
  for (const char* bad : {"", ".a", "-a", "_a", "A", "a b", "../a", "a/b", "a\\b", "a:b", "ä"}) {
    EXPECT_FALSE(IsLegalName(bad)) << bad;
  }
  EXPECT_FALSE(IsLegalName(std::string(64, 'a')));
  EXPECT_FALSE(IsLegalName(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace reel::server
