// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/torch_guard.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "kernels/dispatch/device_gone.h"
#include "model/bridge/torch_device.h"

namespace reel::model {
namespace {

absl::Status StatusOfCudaError(int32_t code) {
  return TorchGuard([&]() -> absl::Status {
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code, "CUDA error");
  });
}

TEST(TorchGuard, ALostContextIsAborted) {
  const absl::Status status = StatusOfCudaError(700);  // an illegal address
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_FALSE(kernels::IsDeviceGone(status));
}

TEST(TorchGuard, ADeviceThatNeedsAResetIsTold) {
  const absl::Status status = StatusOfCudaError(214);  // ECC
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_TRUE(kernels::IsDeviceGone(status));
}

TEST(TorchGuard, AKernelsStatusComesBackAsItWas) {
  const absl::Status status = TorchGuard([]() -> absl::Status {
    ThrowIfError(kernels::DeviceGoneError("gone"));
    return absl::OkStatus();
  });
  EXPECT_TRUE(kernels::IsDeviceGone(status));
  EXPECT_EQ(status.message(), "gone");
}

TEST(TorchGuard, ADeviceThatWorksPassesItsProbe) {
  EXPECT_TRUE(ProbeTorchDevice({.device = -1, .handle = nullptr}).ok());
}

}  // namespace
}  // namespace reel::model
