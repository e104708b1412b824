// SPDX-License-Identifier: Apache-2.0
// Tests of the device under test, and of GPUs alone.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/ops.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    device_ = *TorchDeviceOf(DeviceUnderTest()->stream);
  }

  at::Device device_ = at::kCPU;
};

class GpuTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device_.is_cuda()) GTEST_SKIP() << "SKIPPED: it is of a GPU";
  }
};

// What comes of one call of an operator by what "auto" takes, or by the variant of that name where
// one is given; `ran` is which one it was.
inline at::Tensor ByVariant(const std::string& op, const std::string& name, std::string& ran,
                            const std::function<at::Tensor(const Ops&)>& call) {
  std::map<std::string, std::string> choices;
  if (!name.empty()) choices[op] = name;
  const auto plan = DeviceUnderTest()->catalog.Plan("auto", choices);
  ThrowIfError(plan.status());
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
  const at::Tensor out = call(Ops(run));
  for (const auto& use : counters.Uses()) {
    if (use.op == op) ran = use.variant;
  }
  return out;
}

// As a share of what is expected.
inline double DistanceOf(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble);
  return ((actual.to(at::kDouble) - wide).norm() / wide.norm()).item<double>();
}

}  // namespace reel::model
