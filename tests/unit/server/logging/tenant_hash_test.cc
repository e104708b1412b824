// SPDX-License-Identifier: Apache-2.0
#include "server/logging/tenant_hash.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

TEST(TenantHash, ShowsNoName) {
  EXPECT_EQ(TenantHash("blue").size(), 8U);
  EXPECT_EQ(TenantHash("blue"), TenantHash("blue"));
  EXPECT_NE(TenantHash("blue"), TenantHash("red"));
  EXPECT_EQ(TenantHash(""), "");
}

}  // namespace
}  // namespace reel
