// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "gtest/gtest.h"
#include "model/bridge/framework_facts.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

TEST(MemoryLimit, IsNoneOnACpu) { EXPECT_TRUE(LimitTorchMemory({}, 1).ok()); }

class MemoryLimitOfGpu : public GpuTest {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_TRUE(LimitTorchMemory(DeviceUnderTest()->stream, int64_t{1} << 50).ok());
  }
  absl::Status Allocate(int64_t bytes) const {
    return TorchGuard([&]() -> absl::Status {
      at::empty({bytes}, at::TensorOptions(device_).dtype(at::kByte));
      return absl::OkStatus();
    });
  }
};

TEST_F(MemoryLimitOfGpu, RefusesWhatGoesBeyondIt) {
  const kernels::DeviceStream stream = DeviceUnderTest()->stream;
  constexpr int64_t kMiB = 1 << 20;
  TorchMemoryReturner(stream)();
  const int64_t reserved = TorchMemoryReader(stream)().reserved;
  ASSERT_TRUE(LimitTorchMemory(stream, reserved + 256 * kMiB).ok());
  EXPECT_TRUE(Allocate(128 * kMiB).ok());
  const absl::Status refused = Allocate(512 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  // The device is as before.
  EXPECT_TRUE(Allocate(128 * kMiB).ok());
  ASSERT_TRUE(LimitTorchMemory(stream, int64_t{1} << 50).ok());
  EXPECT_TRUE(Allocate(512 * kMiB).ok());
}

}  // namespace
}  // namespace reel::model
