// SPDX-License-Identifier: Apache-2.0
// The device that REEL_TEST_DEVICE names (the CPU), with the variants of kernels/ and of libtorch.
#pragma once

#include "absl/status/statusor.h"
#include "kernels/open_device.h"

namespace reel::model {

// An error where this machine lacks the device: its tests skip then.
const absl::StatusOr<kernels::OpenedDevice>& DeviceUnderTest();

// Only where this machine has the device.
inline bool OnCpus() { return DeviceUnderTest()->stream.device < 0; }

}  // namespace reel::model
