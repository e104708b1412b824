// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_gone.h"

#include <gtest/gtest.h>

namespace reel::kernels {
namespace {

TEST(DeviceGone, IsALostContextAndMore) {
  const absl::Status gone = DeviceGoneError("it fell off the bus");
  EXPECT_TRUE(absl::IsAborted(gone));
  EXPECT_EQ(gone.message(), "it fell off the bus");
  EXPECT_TRUE(IsDeviceGone(gone));
  EXPECT_TRUE(IsDeviceGone(absl::Status(gone)));
}

TEST(DeviceGone, OtherErrorsAreNot) {
  EXPECT_FALSE(IsDeviceGone(absl::OkStatus()));
  EXPECT_FALSE(IsDeviceGone(absl::AbortedError("the context is lost")));
}

TEST(DeviceGone, EccNvlinkAndDevicesThatAreNotThereNeedAReset) {
  for (const int32_t error : {100, 214, 220, 802}) EXPECT_TRUE(NeedsReset(error)) << error;
  // Out of memory; the context alone; what is contained; unknown.
  for (const int32_t error : {0, 2, 46, 226, 700, 716, 719, 999}) {
    EXPECT_FALSE(NeedsReset(error)) << error;
  }
}

}  // namespace
}  // namespace reel::kernels
