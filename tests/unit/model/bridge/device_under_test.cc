// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/bridge/device_under_test.h"

#include <cstdlib>
#include <string>

#include "model/bridge/framework_variants.h"

namespace reel::model {
namespace {

std::string FromEnvironment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

absl::StatusOr<kernels::OpenedDevice> Open() {
  auto opened = kernels::OpenDevice(FromEnvironment("REEL_TEST_DEVICE", "cpu"),
                                    FromEnvironment("REEL_CUDA_LIBRARY", ""));
  if (opened.ok()) AddFrameworkVariants(opened->catalog);
  return opened;
}

}  // namespace

const absl::StatusOr<kernels::OpenedDevice>& DeviceUnderTest() {
  static const absl::StatusOr<kernels::OpenedDevice> device = Open();
  return device;
}

}  // namespace reel::model
