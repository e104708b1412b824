// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/video_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace reel::front {
namespace {

TEST(VideoId, CarriesTheReplicaAndNeverRepeats) {
  std::set<std::string> ids;
  for (int i = 0; i < 2000; ++i) ids.insert(NewVideoId("r7"));
  EXPECT_EQ(ids.size(), 2000u);
  for (const std::string& id : ids) {
    EXPECT_THAT(id, ::testing::MatchesRegex("r7-[a-z2-7]{26}"));
  }
}

TEST(VideoId, TellsItsReplica) {
  EXPECT_EQ(ReplicaOf(NewVideoId("r7")), "r7");
  EXPECT_EQ(ReplicaOf("lab-abcdefghijklmnopqrstuvwxyz"), "lab");
  for (const char* other : {"", "-", "lab", "lab-abc", "-abcdefghijklmnopqrstuvwxyz",
                            "labxabcdefghijklmnopqrstuvwxyz", "lab-abcdefghijklmnopqrstuvwxy1"}) {
    EXPECT_EQ(ReplicaOf(other), "") << other;
  }
}

TEST(VideoId, OfOthersOfACallFollowsFromTheFirst) {
  const std::string first = NewVideoId("r7");
  EXPECT_EQ(OtherVideoId(first, 0), first);
  std::set<std::string> ids;
  for (int place = 0; place < 16; ++place) {
    const std::string id = OtherVideoId(first, place);
    EXPECT_EQ(OtherVideoId(first, place), id);
    EXPECT_THAT(id, ::testing::MatchesRegex("r7-[a-z2-7]{26}"));
    ids.insert(id);
    ids.insert(OtherVideoId(NewVideoId("r7"), place));
  }
  EXPECT_EQ(ids.size(), 32u);
}

TEST(VideoId, DrawsReplicasOfSixLetters) {
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(NewReplica());
  EXPECT_GT(drawn.size(), 95u);
  for (const std::string& replica : drawn) {
    EXPECT_THAT(replica, ::testing::MatchesRegex("[a-z]{6}"));
  }
}

TEST(VideoId, EveryPlaceVaries) {
  std::vector<std::set<char>> seen(29);
  for (int i = 0; i < 200; ++i) {
    const std::string id = NewVideoId("r0");
    for (size_t place = 3; place < id.size(); ++place) seen[place].insert(id[place]);
  }
  for (size_t place = 3; place < 29; ++place) EXPECT_GT(seen[place].size(), 4u) << place;
}

}  // namespace
}  // namespace reel::front
