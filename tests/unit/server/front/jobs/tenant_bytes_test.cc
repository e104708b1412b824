// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {
namespace {

TEST(TenantBytes, WhatIsLikelyMustFitAndADoubtRefusesNobody) {
  const TenantBytes tenant{.held = 500, .reserved = 300, .allowed = 1000};
  EXPECT_EQ(ReservationFor({100, 150}, 0, tenant), 150);
  EXPECT_EQ(ReservationFor({100, 250}, 0, tenant), 200);
  EXPECT_EQ(ReservationFor({200, 250}, 0, tenant), 200);
  EXPECT_EQ(ReservationFor({201, 250}, 0, tenant), std::nullopt);
  EXPECT_EQ(ReservationFor({150, 150}, 50, tenant), 150);
  EXPECT_EQ(ReservationFor({151, 151}, 50, tenant), std::nullopt);
}

TEST(TenantBytes, AGuessTakesWhatIsLeftAndNoMore) {
  const TenantBytes tenant{.held = 500, .reserved = 300, .allowed = 1000};
  EXPECT_EQ(ReservationFor({0, 5000}, 0, tenant), 200);
  EXPECT_EQ(ReservationFor({0, 5000}, 150, tenant), 50);
  EXPECT_EQ(ReservationFor({0, 5000}, 200, tenant), std::nullopt);
  EXPECT_EQ(ReservationFor({0, 20}, 0, tenant), 20);
}

TEST(TenantBytes, WithoutALimitThereIsAlwaysRoom) {
  const TenantBytes tenant{.held = 500, .reserved = 300, .allowed = 0};
  EXPECT_EQ(ReservationFor({4000, 5000}, 1 << 20, tenant), 5000);
}

TEST(TenantBytes, ARefusalTellsHowMuchIsHeldReservedAndAllowed) {
  const absl::Status refused = TooManyBytes("t", {500, 300, 1000}, 250, "videos/x");
  EXPECT_EQ(ReasonOf(refused), Reason::kTenantQuota);
  EXPECT_TRUE(RetryAfterOf(refused).has_value());
  const std::string details = SerializeError(refused);
  for (const char* part : {"held", "500", "reserved", "300", "needed", "250", "limit", "1000",
                           "tenant:t", "videos/x"}) {
    EXPECT_NE(details.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace reel::front
