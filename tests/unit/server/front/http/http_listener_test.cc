// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/front/http/http_stream.h"

namespace reel::front {
namespace {

TEST(HttpListener, NamesTheRealPort) {
  Address address{"127.0.0.1", 0};
  const auto socket = ListenOn(address);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_GT(address.port, 0);
}

TEST(HttpListener, TakesNamesAndIpv6) {
  Address name{"localhost", 0};
  EXPECT_TRUE(ListenOn(name).ok());
  Address any{"0.0.0.0", 0};
  EXPECT_TRUE(ListenOn(any).ok());
}

TEST(HttpListener, RefusesByName) {
  Address first{"127.0.0.1", 0};
  const auto socket = ListenOn(first);
  ASSERT_TRUE(socket.ok());
  Address second = first;
  const auto taken = ListenOn(second);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(taken.status().message()), testing::HasSubstr(first.ToString()));
  Address elsewhere{"192.0.2.1", 0};
  EXPECT_EQ(ListenOn(elsewhere).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace reel::front
