// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/name_lookup.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace reel::front {
namespace {

absl::Duration Enough() { return absl::Seconds(30); }

TEST(NameLookup, FindsNumbersAndThisMachineWithoutAskingAnybody) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    NameLookup lookup({host, 4318});
    // A second time as well: a collector may move.
    for (int i = 0; i < 2; ++i) {
      const AddressList found = lookup.Find(Enough);
      ASSERT_NE(found, nullptr) << host;
      if (found->ai_family != AF_INET) continue;
      EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_port, htons(4318));
    }
  }
}

TEST(NameLookup, ANameThatIsNoneIsNotFound) {
  NameLookup lookup({"no..name", 1});
  EXPECT_EQ(lookup.Find(Enough), nullptr);
}

TEST(NameLookup, WithoutTimeItReturnsAndCanBeLeft) {
  for (int i = 0; i < 20; ++i) {
    NameLookup lookup({"localhost", 1});
    lookup.Find([] { return absl::ZeroDuration(); });
  }
}

}  // namespace
}  // namespace reel::front
