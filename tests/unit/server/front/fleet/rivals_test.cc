// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/node_table.h"

namespace reel::front {
namespace {

std::vector<std::string> Names(const char* prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

// Those with room for so many, but for one, as it sees them.
std::map<std::string, int> Others(const std::vector<std::string>& nodes, const std::string& self,
                                  int room = 1) {
  std::map<std::string, int> others;
  for (const std::string& node : nodes) others[node] = room;
  others.erase(self);
  return others;
}

TEST(Rivals, EachNodeHasAPlaceOfItsOwnForEachVideo) {
  const auto nodes = Names("n", 130);  // more than two words of bits
  std::map<std::string, Rivals> of;
  for (const std::string& node : nodes) {
    of.try_emplace(node, node).first->second.Update(Others(nodes, node));
  }
  std::map<std::string, int> first;
  int videos = 0;
  for (const std::string& video : Names("prod-", 500)) {
    const bool ask_all = ++videos % 10 == 0;  // a look at each node by each
    std::set<int> places;
    for (const std::string& node : nodes) {
      Rivals::Better better;
      const int place = of.at(node).CountBetter(video, false, better);
      if (ask_all || place == 0) {
        EXPECT_EQ(place == 0, SuitsBest(video, node, nodes));
      }
      places.insert(place);
      first[node] += place == 0 ? 1 : 0;
    }
    EXPECT_EQ(places.size(), nodes.size());
    EXPECT_EQ(*places.rbegin(), static_cast<int>(nodes.size()) - 1);
  }
  for (const auto& [node, count] : first) EXPECT_LT(count, 16) << node;  // 3.8 in the mean
}

TEST(Rivals, WhatIsKnownOfAVideoIsCountedAnewWithTheRoomOfTheMoment) {
  const auto nodes = Names("n", 70);
  Rivals rivals("n7");
  std::map<std::string, int> room = Others(nodes, "n7", 2);
  rivals.Update(room);
  EXPECT_EQ(rivals.room(), 2 * 69);
  Rivals::Better better;
  const int all = rivals.CountBetter("prod-1", false, better);
  ASSERT_GT(all, 10);
  EXPECT_EQ(rivals.CountBetter("prod-1", true, better), all);
  int without = all;
  for (auto& [node, its] : room) {
    its = 0;
    rivals.Update(room);
    without -= SuitsBest("prod-1", "n7", {node, "n7"}) ? 0 : 1;
    EXPECT_EQ(rivals.CountBetter("prod-1", true, better), without) << node;
    EXPECT_EQ(rivals.CountBetter("prod-1", false, better), all);
  }
  EXPECT_EQ(without, 0);
  EXPECT_EQ(rivals.room(), 0);
}

TEST(Rivals, WhoComesAndGoesIsCountedToo) {
  Rivals rivals("n7");
  Rivals::Better better;
  EXPECT_EQ(rivals.CountBetter("prod-1", false, better), 0);
  for (const int count : {70, 5, 130, 0, 64}) {
    auto nodes = Names("n", count);
    rivals.Update(Others(nodes, "n7"));
    std::set<std::string> sooner;
    for (const std::string& node : nodes) {
      if (!SuitsBest("prod-1", "n7", {node, "n7"})) sooner.insert(node);
    }
    EXPECT_EQ(rivals.CountBetter("prod-1", false, better), static_cast<int>(sooner.size()));
  }
}

TEST(Rivals, TheWindowGrowsWithTheFleet) {
  EXPECT_EQ(WindowOf(1), 64U);
  EXPECT_EQ(WindowOf(200), 400U);
}

}  // namespace
}  // namespace reel::front
