// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/copy_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace reel::kernels {
namespace {

using ::testing::HasSubstr;

CudaLibraryTable LibraryThat(int32_t (*times_copies)(int32_t, int64_t, int32_t, int64_t*)) {
  CudaLibraryTable library{};
  library.error_name = [](int32_t) { return "cudaErrorMemoryAllocation"; };
  library.time_copies = times_copies;
  return library;
}

TEST(CopySpeed, IsTheMedianOfThreeCopiesOfAQuarterOfAGibibyte) {
  const CudaLibraryTable library =
      LibraryThat([](int32_t device, int64_t bytes, int32_t count, int64_t* nanoseconds) {
        EXPECT_EQ(device, 2);
        EXPECT_EQ(bytes, int64_t{1} << 28);
        EXPECT_EQ(count, 3);
        const int64_t times[] = {90'000'000, 10'000'000, 5'000'000};
        std::copy_n(times, count, nanoseconds);
        return 0;
      });
  const auto speed = MeasureCopySpeed(library, 2);
  ASSERT_TRUE(speed.ok()) << speed.status();
  EXPECT_NEAR(static_cast<double>(*speed), 26.84e9, 0.01e9) << "268 MB in 10 ms";
}

TEST(CopySpeed, IsNotKnownWhereTheDeviceRefusesTheCopy) {
  const CudaLibraryTable library =
      LibraryThat([](int32_t, int64_t, int32_t, int64_t*) { return 2; });
  EXPECT_THAT(std::string(MeasureCopySpeed(library, 0).status().message()),
              HasSubstr("cudaErrorMemoryAllocation"));
}

TEST(CopySpeed, IsNotKnownWhereCopiesTookNoTime) {
  const CudaLibraryTable library =
      LibraryThat([](int32_t, int64_t, int32_t, int64_t*) { return 0; });
  EXPECT_FALSE(MeasureCopySpeed(library, 0).ok());
}

}  // namespace
}  // namespace reel::kernels
