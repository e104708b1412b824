// SPDX-License-Identifier: Apache-2.0
#include "client/command/quantity.h"

#include <gtest/gtest.h>

namespace reel::client {
namespace {

TEST(HumanBytes, KeepsTwoToThreeDigits) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1000), "1.0 kB");
  EXPECT_EQ(HumanBytes(9949), "9.9 kB");
  EXPECT_EQ(HumanBytes(9950), "10 kB");
  EXPECT_EQ(HumanBytes(999'499), "999 kB");
  EXPECT_EQ(HumanBytes(999'999), "1.0 MB");
  EXPECT_EQ(HumanBytes(150'000'000'000), "150 GB");
}

TEST(HumanDuration, ChangesUnitsWhereAPersonWould) {
  EXPECT_EQ(HumanDuration(absl::ZeroDuration()), "0 ms");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(350)), "350 ms");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(999.9)), "1.0 s");
  EXPECT_EQ(HumanDuration(absl::Seconds(4.21)), "4.2 s");
  EXPECT_EQ(HumanDuration(absl::Seconds(59.6)), "1 m 00 s");
  EXPECT_EQ(HumanDuration(absl::Seconds(185)), "3 m 05 s");
  EXPECT_EQ(HumanDuration(absl::Hours(2) + absl::Minutes(10)), "2 h 10 m");
}

TEST(ParseDuration, TakesSecondsAndUnits) {
  EXPECT_EQ(*ParseDuration("90"), absl::Seconds(90));
  EXPECT_EQ(*ParseDuration("0.5"), absl::Seconds(0.5));
  EXPECT_EQ(*ParseDuration("1m30s"), absl::Seconds(90));
  for (const char* bad : {"", "0", "-1", "3x", "inf", "nan", "1e300"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

TEST(ToProto, KeepsNanoseconds) {
  const auto proto = ToProto(absl::Seconds(3) + absl::Nanoseconds(7));
  EXPECT_EQ(proto.seconds(), 3);
  EXPECT_EQ(proto.nanos(), 7);
  EXPECT_EQ(FromProto(proto), absl::Seconds(3) + absl::Nanoseconds(7));
}

}  // namespace
}  // namespace reel::client
