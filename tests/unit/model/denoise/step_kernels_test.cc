// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_kernels.h"

#include <string>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

// How many of a pass's steps are exact under the profile.
int ExactOf(int steps, const std::string& profile) {
  const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
  EXPECT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run = {
      .plan = *plan, .counters = counters, .timer = nullptr, .stream = {}};
  int exact = 0;
  for (int done = 0; done < steps; ++done) {
    const bool is = StepsExactly({done, steps}, run);
    EXPECT_EQ(is, is && exact == done) << "only the first ones";
    exact += is ? 1 : 0;
  }
  return exact;
}

TEST(ExactSteps, AreATenthOfThePassToTheNearest) {
  EXPECT_EQ(ExactOf(4, "int8"), 0);
  EXPECT_EQ(ExactOf(5, "int8"), 1);
  EXPECT_EQ(ExactOf(14, "int8"), 1);
  EXPECT_EQ(ExactOf(40, "int8"), 4);
}

TEST(ExactSteps, AreNoneWhereNothingIsIn8Bits) { EXPECT_EQ(ExactOf(40, "auto"), 0); }

TEST(ExactSteps, RunWithoutWhatIsLossy) {
  const kernels::KernelPlan plan = *DeviceUnderTest()->catalog.Plan("int8", {});
  kernels::KernelCounters counters;
  const kernels::Execution run = {
      .plan = plan, .counters = counters, .timer = nullptr, .stream = {}};
  EXPECT_EQ(StepRun(run, true).run().plan.profile(), "auto");
  EXPECT_EQ(StepRun(run, false).run().plan.profile(), "int8");
}

}  // namespace
}  // namespace reel::model
