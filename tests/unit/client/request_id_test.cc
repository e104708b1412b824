// SPDX-License-Identifier: Apache-2.0
#include "client/request_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace reel::client {
namespace {

TEST(NewRequestId, IsAVersionFourUuidAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = NewRequestId();
    EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                          "[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(id).second);
  }
}

}  // namespace
}  // namespace reel::client
