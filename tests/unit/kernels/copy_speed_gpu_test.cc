// SPDX-License-Identifier: Apache-2.0
// The speed of the link to a real device.
#include <cuda_runtime_api.h>

#include "gtest/gtest.h"
#include "kernels/dispatch/copy_speed.h"
#include "kernels/dispatch/cuda_library.h"
#include "tests/unit/kernels/cuda_library_path.h"

namespace reel::kernels {
namespace {

TEST(CopySpeedOnDevice, IsThatOfSomeLink) {
  const auto library = LoadCudaLibrary(CudaLibraryPath());
  ASSERT_TRUE(library.ok()) << library.status();
  if (!PropertiesOf(**library, 0).ok()) GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
  const auto speed = MeasureCopySpeed(**library, 0);
  ASSERT_TRUE(speed.ok()) << speed.status();
  // From one lane of PCIe 3.0 to NVLink.
  EXPECT_GT(*speed, 500'000'000);
  EXPECT_LT(*speed, 1'000'000'000'000);
  EXPECT_FALSE(MeasureCopySpeed(**library, 99).ok());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the next call would report it";
}

}  // namespace
}  // namespace reel::kernels
