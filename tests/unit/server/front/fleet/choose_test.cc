// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/choose.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

std::vector<std::string> Names(const char* prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

TEST(Choose, NodesThatSeeTheSameTryForDifferentVideos) {
  const auto nodes = Names("n", 8);
  const auto waiting = Names("prod-", 64);
  std::map<std::string, int> tries;
  size_t idle = 0;
  for (const std::string& node : nodes) {
    const auto chosen = ChooseClaims(waiting, node, nodes, 1);
    ASSERT_EQ(chosen.size(), 1U);
    ++tries[chosen.front()];
  }
  for (const auto& [video, count] : tries) idle += static_cast<size_t>(count - 1);
  EXPECT_EQ(idle, 0U);
}

TEST(Choose, EachNodeHasAPlaceOfItsOwnForEachVideo) {
  const auto nodes = Names("n", 9);
  for (const std::string& video : Names("prod-", 50)) {
    std::set<size_t> places;
    for (const std::string& node : nodes) {
      const size_t place = CountBetter(video, node, nodes);
      EXPECT_EQ(place == 0, SuitsBest(video, node, nodes));
      places.insert(place);
    }
    EXPECT_EQ(places.size(), nodes.size());
    EXPECT_EQ(*places.rbegin(), nodes.size() - 1);
  }
  EXPECT_EQ(CountBetter("prod-1", "n1", {}), 0U);
}

TEST(Choose, EveryVideoBelongsToOneNode) {
  const auto nodes = Names("n", 5);
  std::map<std::string, size_t> of_node;
  const auto waiting = Names("prod-", 500);
  for (const std::string& video : waiting) {
    // With room for one and a queue of one, a node takes what belongs to another: so they are asked
    // for all, of which their own come first, in the order of the queue.
    size_t owners = 0;
    for (const std::string& node : nodes) {
      const auto chosen = ChooseClaims({video, "prod-x", "prod-y", "prod-z"}, node, nodes, 4);
      ASSERT_EQ(chosen.size(), 4U);
      ASSERT_EQ(std::set<std::string>(chosen.begin(), chosen.end()).size(), 4U);
      const bool own = chosen.front() == video;
      owners += own ? 1 : 0;
      of_node[node] += own ? 1 : 0;
    }
    ASSERT_GE(owners, 1U);
  }
  for (const std::string& node : nodes) EXPECT_GT(of_node[node], 60U) << node;
}

TEST(Choose, WhatNobodyElseTakesIsTaken) {
  // A lone video, and nodes that may be full by now: all try rather than none.
  const auto nodes = Names("n", 3);
  for (const std::string& node : nodes) {
    EXPECT_EQ(ChooseClaims({"prod-a"}, node, nodes, 4), std::vector<std::string>{"prod-a"});
  }
}

TEST(Choose, ANodeAloneGoesByTheQueue) {
  const auto waiting = Names("prod-", 10);
  EXPECT_EQ(ChooseClaims(waiting, "n", {"n"}, 3),
            (std::vector<std::string>{"prod-0", "prod-1", "prod-2"}));
  EXPECT_TRUE(ChooseClaims(waiting, "n", {"n"}, 0).empty());
  EXPECT_TRUE(ChooseClaims({}, "n", {"n"}, 3).empty());
}

TEST(Choose, TheWindowGrowsWithTheFleet) {
  EXPECT_EQ(WindowOf(1), 64U);
  EXPECT_EQ(WindowOf(200), 400U);
}

}  // namespace
}  // namespace reel::front
