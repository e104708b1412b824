// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/nearest_name.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

TEST(NearestName, FindsTheTypingMistake) {
  const std::vector<std::string> names = {"listen", "metrics_listen", "models", "workers"};
  EXPECT_EQ(NearestName("lisen", names), "listen");
  EXPECT_EQ(NearestName("litsen", names), "listen");
  EXPECT_EQ(NearestName("listenn", names), "listen");
  EXPECT_EQ(NearestName("metric_listen", names), "metrics_listen");
  EXPECT_EQ(NearestName("model", names), "models");
  EXPECT_EQ(NearestName("--widht", {"--width", "--height", "--seed"}), "--width");
  EXPECT_EQ(NearestName("--heigh", {"--width", "--height", "--seed"}), "--height");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("colour", {"listen", "models"}), "");
  EXPECT_EQ(NearestName("--colour", {"--width", "--height", "--seed"}), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(NearestName(std::string(1000, 'a'), {"a"}), "");
}

}  // namespace
}  // namespace reel
