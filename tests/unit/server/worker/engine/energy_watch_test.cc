// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/energy_watch.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

using Ask = EnergyWatch::Ask;

TEST(EnergyWatch, TellsEachJouleOnceAndNotTooOften) {
  std::optional<int64_t> counter = 1000;
  int asked = 0;
  const absl::Time start = absl::UnixEpoch();
  EnergyWatch watch(
      [&] {
        ++asked;
        return counter;
      },
      start);
  const auto read = [&](double seconds, Ask ask = Ask::kIfDue) {
    return watch.Read(start + absl::Seconds(seconds), ask);
  };
  counter = 1500;
  EXPECT_FALSE(read(0.05));
  EXPECT_EQ(asked, 1) << "it was read a moment ago";
  auto reading = read(1);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->millijoules, 500);
  EXPECT_EQ(reading->since, absl::Seconds(1));
  EXPECT_EQ(watch.TakeUntold(), 500);
  EXPECT_EQ(watch.TakeUntold(), 0);
  // A reading that fails loses nothing.
  counter = std::nullopt;
  EXPECT_FALSE(read(3));
  counter = 1700;
  reading = read(4);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->millijoules, 200);
  EXPECT_EQ(reading->since, absl::Seconds(3));
  // The end of a job cannot wait.
  counter = 1710;
  EXPECT_TRUE(read(4.01, Ask::kNow));
  EXPECT_EQ(watch.TakeUntold(), 210);
  // The driver was loaded anew.
  counter = 10;
  EXPECT_FALSE(read(5));
  EXPECT_EQ(watch.TakeUntold(), 0);
  counter = 30;
  EXPECT_TRUE(read(6));
  EXPECT_EQ(watch.TakeUntold(), 20);
}

TEST(EnergyWatch, OfADeviceThatTellsNoneIsNothing) {
  EnergyWatch watch(nullptr, absl::UnixEpoch());
  EXPECT_FALSE(watch.Read(absl::InfiniteFuture(), Ask::kNow));
  EXPECT_EQ(watch.TakeUntold(), 0);
}

}  // namespace
}  // namespace reel::worker
