// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/call_bounds.h"

#include <gtest/gtest.h>

#include <vector>

// What a flood costs a server is tests/integration/attacks/rapid_resets.py's.
namespace reel::front {
namespace {

// Addresses that stand for connections and calls.
std::vector<char> Some(size_t count) { return std::vector<char>(count); }

TEST(CallBounds, HoldForTheGrpcThatReelIsBuiltWith) { EXPECT_TRUE(CallsAreBounded()); }

TEST(KeptCalls, AConnectionWithTwiceItsOpenCallsKeptHasNoMore) {
  KeptCalls kept;
  const auto connections = Some(2), calls = Some(kMostKeptCalls);
  for (const char& call : calls) {
    ASSERT_TRUE(kept.MayBegin(&connections[0]));
    kept.Begin(&connections[0], &call);
    kept.End(&call);
  }
  EXPECT_FALSE(kept.MayBegin(&connections[0]));
  EXPECT_TRUE(kept.MayBegin(&connections[1]));
  kept.Forget(&calls[0]);
  EXPECT_TRUE(kept.MayBegin(&connections[0]));
}

TEST(KeptCalls, WhereManyHaveEndedAConnectionHasAFew) {
  KeptCalls kept;
  const auto connections = Some(kMostEndedCalls), calls = Some(kMostEndedCalls);
  for (size_t i = 0; i < calls.size(); ++i) {  // each of a connection of its own
    kept.Begin(&connections[i], &calls[i]);
    kept.End(&calls[i]);
    kept.End(&calls[i]);  // counts once
  }
  const auto mine = Some(kFewCalls);
  for (const char& call : mine) {
    ASSERT_TRUE(kept.MayBegin(&mine));
    kept.Begin(&mine, &call);
  }
  EXPECT_FALSE(kept.MayBegin(&mine));
  kept.Forget(&calls[0]);
  EXPECT_TRUE(kept.MayBegin(&mine));
}

TEST(KeptCalls, OpenCallsOfManyConnectionsAreNobodysLoss) {
  KeptCalls kept;
  const auto connections = Some(100), calls = Some(connections.size() * kMostOpenCalls);
  for (size_t i = 0; i < calls.size(); ++i) {
    const void* const connection = &connections[i % connections.size()];
    ASSERT_TRUE(kept.MayBegin(connection));
    kept.Begin(connection, &calls[i]);
  }
}

TEST(KeptCalls, CallsThatBeganElsewhereAreIgnored) {
  KeptCalls kept;
  const char connection = 0, call = 0;
  kept.End(&call);
  kept.Forget(&call);
  EXPECT_TRUE(kept.MayBegin(&connection));
}

}  // namespace
}  // namespace reel::front
