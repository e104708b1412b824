// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ListingCommandsTest = CommandTest;

TEST_F(ListingCommandsTest, ListIsATable) {
  EXPECT_EQ(Run({"list", "--state", "succeeded", "--state", "failed"}), 0);
  EXPECT_EQ(out_.find("NAME          STATE      PROGRESS  SHAPE    MODEL     CREATED"), 0u);
  EXPECT_NE(out_.find("\nvideos/fake1  succeeded  300 kB    64x32x9  testcard  "),
            std::string::npos);
}

TEST_F(ListingCommandsTest, GetTakesAShortName) {
  EXPECT_EQ(Run({"get", "fake1"}), 0);
  EXPECT_NE(out_.find("state    succeeded\n"), std::string::npos);
  EXPECT_EQ(Run({"get", "videos/fake1", "--json"}), 0);
  EXPECT_EQ(out_.find("{\"name\":\"videos/fake1\""), 0u);
  EXPECT_EQ(Run({"get", "videos/other"}), 8);
}

}  // namespace
}  // namespace reel::client
