// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/node_table.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

NodeBeat BeatOf(const char* node, uint64_t process = 1) {
  NodeBeat beat;
  beat.node = node;
  beat.process = process;
  return beat;
}

class NodeTableTest : public ::testing::Test {
 protected:
  // Ticks that hear nothing, ten a second.
  void Pass(absl::Duration time, bool connected = true) {
    for (absl::Duration step; step < time; step += absl::Milliseconds(100)) {
      now_ += absl::Milliseconds(100);
      table_.Tick(now_, connected);
    }
  }
  void SetUp() override { table_.Tick(now_, true); }

  absl::Duration now_ = absl::Hours(5);
  NodeTable table_{"self", absl::Seconds(5), absl::Seconds(1)};
};

TEST_F(NodeTableTest, OneThatDoesNotBeatIsSilentAfterTheTime) {
  table_.Hear(BeatOf("n1"));
  Pass(absl::Seconds(5));
  EXPECT_FALSE(table_.IsSilent("n1"));
  EXPECT_EQ(table_.Alive().size(), 1U);
  Pass(absl::Milliseconds(200));
  EXPECT_TRUE(table_.IsSilent("n1"));
  EXPECT_TRUE(table_.Alive().empty());
  table_.Hear(BeatOf("n1"));
  EXPECT_FALSE(table_.IsSilent("n1"));
}

TEST_F(NodeTableTest, ShowsTheSilentToo) {
  NodeBeat beat = BeatOf("n1");
  beat.position = 7;
  table_.Hear(beat);
  table_.Hear(BeatOf("self"));
  EXPECT_EQ(table_.newest_position(), 7U);
  Pass(absl::Seconds(6));
  EXPECT_EQ(table_.newest_position(), 0U);
  const auto all = table_.All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all.at("n1").silent);
  EXPECT_EQ(all.at("n1").since, absl::Seconds(6));
  EXPECT_FALSE(all.at("self").silent);
}

TEST_F(NodeTableTest, OneThatWasNeverHeardIsSilentOnlyAfterTheTimeToo) {
  Pass(absl::Seconds(5));
  EXPECT_FALSE(table_.IsSilent("ghost"));
  Pass(absl::Milliseconds(200));
  EXPECT_TRUE(table_.IsSilent("ghost"));
}

TEST_F(NodeTableTest, TheTimeThatTheObserverWasPausedDoesNotCount) {
  table_.Hear(BeatOf("n1"));
  Pass(absl::Seconds(4));
  now_ += absl::Seconds(60);
  table_.Tick(now_, true);
  EXPECT_FALSE(table_.IsSilent("n1"));
  // What was sent meanwhile gets the whole time to come in.
  Pass(absl::Seconds(5));
  EXPECT_FALSE(table_.IsSilent("n1"));
  EXPECT_FALSE(table_.IsSilent("ghost"));
  Pass(absl::Milliseconds(200));
  EXPECT_TRUE(table_.IsSilent("n1"));
  EXPECT_TRUE(table_.IsSilent("ghost"));
}

TEST_F(NodeTableTest, TheTimeThatTheObserverWasCutOffDoesNotCount) {
  table_.Hear(BeatOf("n1"));
  Pass(absl::Seconds(4));
  Pass(absl::Seconds(30), false);
  EXPECT_FALSE(table_.IsSilent("n1"));
  Pass(absl::Seconds(5));
  EXPECT_FALSE(table_.IsSilent("n1"));
  Pass(absl::Milliseconds(300));
  EXPECT_TRUE(table_.IsSilent("n1"));
}

TEST_F(NodeTableTest, ANodeIsNeverSilentToItself) {
  Pass(absl::Minutes(1));
  EXPECT_FALSE(table_.IsSilent("self"));
}

TEST_F(NodeTableTest, ASecondProcessUnderOnesOwnNameIsSeen) {
  table_.Hear(BeatOf("self", 7));
  EXPECT_TRUE(table_.Namesakes(7).empty());
  EXPECT_EQ(table_.Namesakes(8).size(), 1U);
  // The process before this one is no double for long.
  Pass(absl::Seconds(6));
  EXPECT_TRUE(table_.Namesakes(8).empty());
}

}  // namespace
}  // namespace reel::front
