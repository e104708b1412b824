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

TEST(TenantLedger, IsTakenUpByAProcessWithAnotherClock) {
  TenantLedger before;
  const absl::Time wall = absl::FromUnixSeconds(1'800'000'000);
  before.AddDeviceSeconds("t", 3, absl::Minutes(100));
  before.AddDeviceSeconds("t", 5, absl::Minutes(161));
  before.AddDeviceSeconds("t", 7.25, absl::Minutes(190));
  const std::string kept = before.Keep("t", absl::Minutes(200), wall);
  EXPECT_EQ(before.Keep("u", absl::Minutes(200), wall), "");

  // Ten minutes later, on a machine that has just started.
  TenantLedger after;
  const absl::Time later = wall + absl::Minutes(10);
  after.TakeUp("t", kept, absl::Seconds(4), later);
  EXPECT_EQ(after.DeviceSecondsOfHour("t", absl::Seconds(4)), 12.25);
  EXPECT_EQ(after.DeviceSecondsOfHour("t", absl::Minutes(15)), 7.25);
  EXPECT_EQ(after.DeviceSecondsOfHour("t", absl::Minutes(41)), 0);
}

TEST(TenantLedger, LeavesWhatCannotBeTakenUp) {
  TenantLedger ledger;
  const absl::Time wall = absl::FromUnixSeconds(60'000);
  for (const char* kept : {"", "x", "999", "999 x", "999 1 2", "999 -5", "999 nan", "1001 5",
                           "940 5", "999999999999999999999 5"}) {
    ledger.TakeUp("t", kept, absl::Minutes(500), wall);
    EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::Minutes(500)), 0) << kept;
  }
  ledger.TakeUp("t", "999 5", absl::Minutes(500), wall);
  EXPECT_EQ(ledger.DeviceSecondsOfHour("t", absl::Minutes(500)), 5);
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
