// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "server/front/rpc/grpc_server.h"

namespace reel::front {
namespace {

TEST(NewConnections, OnlyTheFirstCallOfOneCounts) {
  NewConnections connections;
  EXPECT_EQ(connections.latest(), NewConnections::Clock::time_point());
  connections.Note("ipv4:127.0.0.1:1");
  const auto first = connections.latest();
  EXPECT_GT(first, NewConnections::Clock::time_point());
  connections.Note("ipv4:127.0.0.1:1");
  EXPECT_EQ(connections.latest(), first);
  connections.Note("ipv4:127.0.0.1:2");
  EXPECT_GT(connections.latest(), first);
}

TEST(NewConnections, RemembersTheLatestAndForgetsTheOldest) {
  NewConnections connections;
  for (int i = 0; i < 20'000; ++i) connections.Note(std::to_string(i));
  auto latest = connections.latest();
  connections.Note("19999");
  EXPECT_EQ(connections.latest(), latest);
  connections.Note("0");  // its port may be somebody else's by now
  EXPECT_GT(connections.latest(), latest);
}

}  // namespace
}  // namespace reel::front
