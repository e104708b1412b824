// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace reel::worker {
namespace {

TEST(EnergySampler, GoesOnAtTheRateOfTheLastTwoReadings) {
  const EnergySample before{1000, absl::Seconds(1)}, last{1600, absl::Seconds(2)};
  EXPECT_EQ(EnergyAt(before, last, absl::Seconds(2)), 1600);
  EXPECT_EQ(EnergyAt(before, last, absl::Milliseconds(2500)), 1900);
  EXPECT_EQ(EnergyAt(before, last, absl::Seconds(1)), 1600) << "never back";
  EXPECT_EQ(EnergyAt(last, last, absl::Seconds(9)), 1600);
}

TEST(EnergySampler, AsksTheDeviceOnAnotherThreadThanItsCallers) {
  const std::thread::id own = std::this_thread::get_id();
  std::atomic<int> elsewhere{0}, here{0};
  std::atomic<int64_t> counter{5000};
  const EnergyReader reader = Sampled(
      [&] {
        ++(std::this_thread::get_id() == own ? here : elsewhere);
        return std::optional<int64_t>(counter += 100);
      },
      absl::Milliseconds(1));
  int64_t last = 0;
  while (elsewhere < 5) {
    const auto now = reader();
    ASSERT_TRUE(now);
    ASSERT_GE(*now, last);
    last = *now;
  }
  EXPECT_EQ(here, 1);  // before anything runs
}

TEST(EnergySampler, AsksSlowDevicesLessOften) {
  EXPECT_EQ(PauseAfter(absl::Milliseconds(2), absl::Milliseconds(100)), absl::Milliseconds(100));
  EXPECT_EQ(PauseAfter(absl::Milliseconds(20), absl::Milliseconds(100)), absl::Milliseconds(400));
}

TEST(EnergySampler, TellsNothingWhereTheDeviceDoesNot) {
  EXPECT_EQ(Sampled(nullptr), nullptr);
  const EnergyReader silent = Sampled([] { return std::optional<int64_t>(); });
  EXPECT_EQ(silent(), std::nullopt);
}

TEST(EnergySampler, ADriverThatIsLoadedAnewCountsFromNought) {
  std::atomic<int64_t> counter{9000};
  const EnergyReader reader =
      Sampled([&] { return std::optional<int64_t>(counter.load()); }, absl::Milliseconds(1));
  ASSERT_EQ(reader(), 9000);
  counter = 10;
  while (reader() != 10) std::this_thread::yield();
}

}  // namespace
}  // namespace reel::worker
