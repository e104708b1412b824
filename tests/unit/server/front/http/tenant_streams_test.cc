// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "server/errors/error.h"
#include "server/front/http/door_exchange.h"

namespace reel::front {
namespace {

TEST(TenantStreams, ATenantHasItsPlacesAndNoOthers) {
  const TenantStreams streams(2);
  std::vector<std::shared_ptr<const void>> held;
  for (int i = 0; i < 2; ++i) held.push_back(*streams.Take("a"));
  const auto refused = streams.Take("a").status();
  EXPECT_EQ(ReasonOf(refused), Reason::kTenantQuota);
  EXPECT_EQ(refused.message(), "The tenant has too many open streams: 2, the limit is 2");
  EXPECT_TRUE(streams.Take("b").ok());
  held.pop_back();
  held.push_back(*streams.Take("a"));
  EXPECT_FALSE(streams.Take("a").ok());
}

TEST(TenantStreams, APlaceMayOutliveTheDoor) {
  std::optional<TenantStreams> streams(1);
  const auto held = *streams->Take("a");
  streams.reset();
  EXPECT_NE(held, nullptr);
}

TEST(TenantStreams, WithoutABoundAnyNumberIsOpen) {
  const TenantStreams streams(0);
  std::vector<std::shared_ptr<const void>> held;
  for (int i = 0; i < 1000; ++i) held.push_back(*streams.Take("a"));
  EXPECT_TRUE(streams.Take("a").ok());
}

}  // namespace
}  // namespace reel::front
