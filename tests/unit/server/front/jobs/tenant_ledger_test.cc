// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/tenant_ledger.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

TEST(TenantLedger, CountsTheLastHour) {
  TenantLedger ledger;
  EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::ZeroDuration()), 0);
  ledger.AddDeviceSeconds("t", 5, absl::Minutes(0));
  ledger.AddDeviceSeconds("t", 7, absl::Minutes(30));
  ledger.AddDeviceSeconds("u", 100, absl::Minutes(30));
  EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::Minutes(59)), 12);
  EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::Minutes(60)), 7);
  EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::Minutes(90)), 0);
}

TEST(TenantLedger, CountsStoredBytes) {
  TenantLedger ledger;
  ledger.AddStored("t", 10);
  ledger.AddStored("t", -4);
  EXPECT_EQ(ledger.stored("t"), 6);
  EXPECT_EQ(ledger.stored("u"), 0);
}

}  // namespace
}  // namespace reel::front
