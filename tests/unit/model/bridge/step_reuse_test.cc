// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/step_reuse.h"

#include <string>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/torch_device.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

TEST(StepReuse, IsASumThatIsNamedAndOnlyOfItsProfile) {
  if (!DeviceUnderTest().ok()) {
    GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
  }
  const kernels::DeviceStream stream = DeviceUnderTest()->stream;
  const at::Device device = *TorchDeviceOf(stream);
  const auto plan = DeviceUnderTest()->catalog.Plan("cache", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, stream};
  const at::Tensor x = at::full({2, 3, 4}, 1.5, at::kFloat).to(device);
  EXPECT_TRUE(WithKept(Ops(run), x, x).equal(2 * x));
  const auto uses = counters.Uses();
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].op, "step_cache");
  EXPECT_EQ(uses[0].variant, kFirstBlockVariant);
  for (const std::string& profile : kernels::BuiltInProfiles()) {
    const kernels::KernelPlan other(profile, {});
    const kernels::Execution other_run{other, counters, nullptr, stream};
    EXPECT_EQ(MayReuseSteps(other_run), profile == "cache") << profile;
  }
}

}  // namespace
}  // namespace reel::model
