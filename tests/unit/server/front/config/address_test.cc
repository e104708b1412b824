// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

TEST(Address, ReadsHostsOfEveryKind) {
  EXPECT_EQ(ParseAddress("127.0.0.1:50051")->port, 50051);
  EXPECT_EQ(ParseAddress("localhost:0")->host, "localhost");
  EXPECT_EQ(ParseAddress("[::1]:7")->host, "::1");
  EXPECT_EQ(ParseAddress("[::1]:7")->ToString(), "[::1]:7");
  EXPECT_EQ(ParseAddress("10.0.0.1:65535")->ToString(), "10.0.0.1:65535");
}

TEST(Address, KnowsWhatOnlyThisMachineCanReach) {
  EXPECT_TRUE(ParseAddress("127.0.0.1:1")->loopback());
  EXPECT_TRUE(ParseAddress("127.9.9.9:1")->loopback());
  EXPECT_TRUE(ParseAddress("[::1]:1")->loopback());
  EXPECT_TRUE(ParseAddress("localhost:1")->loopback());
  EXPECT_FALSE(ParseAddress("0.0.0.0:1")->loopback());
  EXPECT_FALSE(ParseAddress("[::]:1")->loopback());
  EXPECT_FALSE(ParseAddress("localhost.example.com:1")->loopback());
  EXPECT_FALSE(ParseAddress("127.0.0.1.example.com:1")->loopback());
}

TEST(Address, RefusesWhatIsNoAddressAndRepeatsIt) {
  for (const char* text : {"", "host", ":1", "host:", "host:x", "host:-1", "host:65536", "::1:5",
                           "host:999999", "ho st:1", "unix:/tmp/x:1", "a/b:1"}) {
    const auto address = ParseAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()),
                ::testing::HasSubstr(std::string("'") + text + "'"));
  }
}

}  // namespace
}  // namespace reel::front
