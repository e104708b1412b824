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
    const bool is = KernelsOfStep({done, steps}, true, run) == StepKernels::kExact;
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
  EXPECT_EQ(StepRun(run, StepKernels::kExact).run().plan.profile(), "auto");
  EXPECT_EQ(StepRun(run, StepKernels::kAsAsked).run().plan.profile(), "int8");
}

TEST(RoutedSteps, AreThoseOfLaterPassesAlone) {
  const kernels::KernelPlan plan("routed", {{"rms_norm", "generic"}});
  kernels::KernelCounters counters;
  const kernels::Execution run = {
      .plan = plan, .counters = counters, .timer = nullptr, .stream = {}};
  const auto plan_of = [&](bool first_pass) {
    return StepRun(run, KernelsOfStep({0, 8}, first_pass, run)).run().plan.name();
  };
  EXPECT_EQ(plan_of(true), "fp8_all+rms_norm=generic");
  EXPECT_EQ(plan_of(false), "routed+rms_norm=generic");
}

}  // namespace
}  // namespace reel::model
