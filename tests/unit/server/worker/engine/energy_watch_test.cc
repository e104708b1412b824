// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/energy_watch.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

TEST(EnergyWatch, TellsEachJouleOnceAndNotTooOften) {
  std::optional<int64_t> counter = 1000;
  int asked = 0;
  EnergyWatch watch([&] {
    ++asked;
    return counter;
  });
  const absl::Time start = absl::Now();
  counter = 1500;
  EXPECT_EQ(watch.Take(start), 0);
  EXPECT_EQ(asked, 1) << "it was read a moment ago";
  EXPECT_EQ(watch.Take(start + absl::Seconds(1)), 500);
  EXPECT_EQ(watch.Take(start + absl::Seconds(2)), 0);
  // A reading that fails loses nothing.
  counter = std::nullopt;
  EXPECT_EQ(watch.Take(start + absl::Seconds(3)), 0);
  counter = 1700;
  EXPECT_EQ(watch.Take(start + absl::Seconds(4)), 200);
  // The driver was loaded anew.
  counter = 10;
  EXPECT_EQ(watch.Take(start + absl::Seconds(5)), 0);
  counter = 30;
  EXPECT_EQ(watch.Take(start + absl::Seconds(6)), 20);
}

TEST(EnergyWatch, OfADeviceThatTellsNoneIsNothing) {
  EnergyWatch watch(nullptr);
  EXPECT_EQ(watch.Take(absl::InfiniteFuture()), 0);
}

}  // namespace
}  // namespace reel::worker
