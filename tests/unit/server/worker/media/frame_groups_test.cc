// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/frame_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace reel::worker {
namespace {

using ::testing::ElementsAre;

FrameGroups::Frame FrameOf(int number) { return {static_cast<std::byte>(number)}; }

void PushFrames(FrameGroups& groups, int first, int end) {
  for (int i = first; i < end; ++i) groups.Push(FrameOf(i));
}

AvPacketPtr PacketOf(const FrameGroups::Frame& frame) {
  AvPacketPtr packet(av_packet_alloc());
  packet->pts = std::to_integer<int64_t>(frame[0]);
  return packet;
}

// A packet for each of the group's frames; how many there were.
int EncodeAll(FrameGroups& groups, FrameGroups::Group& group) {
  int frames = 0;
  while (const auto frame = groups.NextFrame(group)) {
    groups.Add(group, PacketOf(*frame));
    ++frames;
  }
  groups.Done(group, absl::OkStatus());
  return frames;
}

std::vector<int64_t> HandedOut(FrameGroups& groups) {
  std::vector<int64_t> numbers;
  for (auto next = groups.NextPacket(); next.ok() && next->packet; next = groups.NextPacket()) {
    numbers.push_back(next->packet->pts);
  }
  return numbers;
}

TEST(FrameGroups, TheFirstHasNineFramesAndTheNextOnesEight) {
  FrameGroups groups;
  PushFrames(groups, 0, 26);
  groups.Finish();
  std::vector<int> sizes;
  while (FrameGroups::Group* group = groups.Take()) sizes.push_back(EncodeAll(groups, *group));
  EXPECT_THAT(sizes, ElementsAre(9, 8, 8, 1));
}

TEST(FrameGroups, AGroupEndsWithItsLastFrameAndNotWithTheNextOnes) {
  FrameGroups groups;
  PushFrames(groups, 0, 9);
  EXPECT_EQ(EncodeAll(groups, *groups.Take()), 9);
}

TEST(FrameGroups, PacketsComeInOrderWhicheverLaneIsFirst) {
  FrameGroups groups;
  PushFrames(groups, 0, 11);
  groups.Finish();
  FrameGroups::Group* const first = groups.Take();
  FrameGroups::Group* const second = groups.Take();
  EXPECT_EQ(EncodeAll(groups, *second), 2);
  EXPECT_EQ(EncodeAll(groups, *first), 9);
  EXPECT_THAT(HandedOut(groups), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(FrameGroups, APacketIsHandedOutWhileItsGroupIsBeingEncoded) {
  FrameGroups groups;
  PushFrames(groups, 0, 1);
  FrameGroups::Group* const group = groups.Take();
  groups.Add(*group, PacketOf(*groups.NextFrame(*group)));
  const auto next = groups.NextPacket();
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->packet->pts, 0);
  EXPECT_EQ(next->waiting, 0);
}

TEST(FrameGroups, AFrameWaitsUntilItsPacketIsHandedOut) {
  FrameGroups groups;
  PushFrames(groups, 0, 3);
  EXPECT_EQ(groups.waiting(), 3);
  FrameGroups::Group* const group = groups.Take();
  groups.Add(*group, PacketOf(*groups.NextFrame(*group)));
  EXPECT_EQ(groups.waiting(), 3);
  EXPECT_EQ(groups.NextPacket()->waiting, 2);
}

TEST(FrameGroups, ALanesErrorIsTheWriters) {
  FrameGroups groups;
  PushFrames(groups, 0, 1);
  groups.Done(*groups.Take(), absl::InternalError("no codec"));
  EXPECT_EQ(groups.NextPacket().status(), absl::InternalError("no codec"));
}

TEST(FrameGroups, AbandonWakesLanesAndTheWriter) {
  FrameGroups groups;
  PushFrames(groups, 0, 1);
  FrameGroups::Group* const group = groups.Take();
  EXPECT_TRUE(groups.NextFrame(*group).has_value());
  std::thread in_group([&] { EXPECT_FALSE(groups.NextFrame(*group).has_value()); });
  std::thread idle([&] { EXPECT_EQ(groups.Take(), nullptr); });
  std::thread writer([&] { EXPECT_TRUE(absl::IsCancelled(groups.NextPacket().status())); });
  groups.Abandon();
  in_group.join();
  idle.join();
  writer.join();
}

}  // namespace
}  // namespace reel::worker
