// SPDX-License-Identifier: Apache-2.0
// The memory of a group of devices that hold the same jobs.
#include "model/device_memory.h"

#include <vector>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

MemoryReader Always(const DeviceMemory& memory) {
  return [memory] { return memory; };
}

TEST(Fullest, IsTheDeviceWithTheLeastLeftAndTheGreatestPeaks) {
  const DeviceMemory roomy = {.total = 80, .held = 20, .in_use = 15, .peak = 60, .most = 61};
  const DeviceMemory full = {.total = 80, .held = 50, .in_use = 44, .peak = 45, .most = 70};
  const DeviceMemory empty = {.total = 80, .held = 10, .in_use = 5, .peak = 5, .most = 5};
  const DeviceMemory expected = {.total = 80, .held = 50, .in_use = 44, .peak = 60, .most = 70};
  EXPECT_EQ(Fullest({Always(roomy), Always(full), Always(empty), Always(empty)})(), expected);
  EXPECT_EQ(Fullest({Always(empty), Always(empty), Always(roomy), Always(full)})(), expected);
  EXPECT_EQ(Fullest({Always(full)})(), full);
}

TEST(DeviceProbe, OfAGroupFindsWhicheverIsLost) {
  const DeviceProbe well = [] { return absl::OkStatus(); };
  const DeviceProbe lost = [] { return absl::AbortedError("an illegal memory access"); };
  EXPECT_TRUE(EachOf({well, well, well, well})().ok());
  for (size_t place = 0; place < 4; ++place) {
    std::vector<DeviceProbe> probes(4, well);
    probes[place] = lost;
    EXPECT_EQ(EachOf(probes)(), lost()) << place;
  }
}

}  // namespace
}  // namespace reel::model
