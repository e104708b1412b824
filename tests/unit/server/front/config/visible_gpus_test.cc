// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/config/default_config.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(VisibleGpus, AreThoseThatHaveAFile) {
  const ::reel::testing::TempFolder devices;
  EXPECT_EQ(VisibleGpus(devices.path(), std::nullopt), 0);
  // As a container has them that was given two of eight.
  for (const char* file : {"nvidia2", "nvidia5", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    devices.Write(file, "");
  }
  EXPECT_EQ(VisibleGpus(devices.path(), std::nullopt), 2);
  EXPECT_EQ(VisibleGpus(devices.File("nowhere"), std::nullopt), 0);
}

TEST(VisibleGpus, AreThoseThatTheEnvironmentLeaves) {
  const ::reel::testing::TempFolder devices;
  for (const char* file : {"nvidia0", "nvidia1", "nvidia2"}) devices.Write(file, "");
  const auto seen = [&](const char* chosen) { return VisibleGpus(devices.path(), chosen); };
  EXPECT_EQ(seen("1"), 1);
  EXPECT_EQ(seen("2, 0"), 2);
  EXPECT_EQ(seen("GPU-8932f937-d72c,GPU-5a1e0c44-0b6d"), 2);
  EXPECT_EQ(seen(""), 0) << "hides all";
  EXPECT_EQ(seen("-1"), 0);
  EXPECT_EQ(seen("0,7,1"), 1) << "what comes behind an unknown one is not seen";
  EXPECT_EQ(seen("MIG-3eb87630-93d5,MIG-11111111-93d5"), 1) << "of slices one";
}

}  // namespace
}  // namespace reel::front
