// SPDX-License-Identifier: Apache-2.0
// What every call of a pipeline needs, on the device that REEL_TEST_DEVICE names (the CPU).
#pragma once

#include <string>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/open_device.h"

namespace reel::model::ltx {

// With the rows of libtorch in its catalog. An error where this machine lacks the device.
const absl::StatusOr<kernels::OpenedDevice>& DeviceUnderTest();

// What a plan takes wherever it has the choice.
enum class Rows {
  kLibtorch,  // the profile "reference"
  kKernels,   // the best row of kernels/ for every operator that has one
};

struct TestRun {
  explicit TestRun(Rows rows = Rows::kLibtorch);

  const kernels::KernelPlan plan;
  kernels::KernelCounters counters;
  const kernels::Execution run;
};

}  // namespace reel::model::ltx
