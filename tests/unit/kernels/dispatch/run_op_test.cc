// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/run_op.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/clock_timer.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"

namespace reel::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Params {
  int* calls;
  int32_t error;
};
void Run(const Params& params) { ++*params.calls; }
int32_t Launch(const Params& params, void*) {
  ++*params.calls;
  return params.error;
}
constexpr KernelVariant kCpuVariants[] = {CpuVariant<Run>("loops")};
constexpr KernelVariant kCudaVariants[] = {GenericCudaVariant<Launch>()};

constexpr CudaLibraryTable kLibrary = {
    .version = kCudaLibraryVersion,
    .num_ops = 0,
    .ops = nullptr,
    .error_name = [](int32_t error) { return error == 700 ? "illegal" : "refused"; },
    .error_kind =
        [](int32_t error) {
          return error == 700
                     ? DeviceErrorKind::kSticky
                     : (error == 2 ? DeviceErrorKind::kOutOfMemory : DeviceErrorKind::kOther);
        },
    .device_count = nullptr,
    .device_properties = nullptr,
    .event_create = nullptr,
    .event_record = nullptr,
    .nanoseconds_between = nullptr,
    .event_destroy = nullptr,
};

class RunOpTest : public testing::Test {
 protected:
  absl::Status Call(int device, bool empty = false) {
    return RunOp({.cpu_variants = MakeVariants<Params>("op", kCpuVariants),
                  .dtype = Dtype::kF32,
                  .params = &params,
                  .empty = empty,
                  .shapes = [] { return std::string("x fp32 [2]"); }},
                 {.plan = plan,
                  .counters = counters,
                  .timer = &timer,
                  .stream = {.device = device, .handle = nullptr}});
  }
  void UseCuda() {
    KernelCatalog catalog({.device = 0, .sm = 90});
    catalog.AddVariants(MakeVariants<Params>("op", kCudaVariants), "built-in", &kLibrary);
    catalog.AddVariants(MakeVariants<Params>("op", kCpuVariants), "built-in");
    plan = *catalog.Plan("", {});
  }
  int64_t Counted() const { return counters.Uses().empty() ? 0 : counters.Uses().front().calls; }

  int calls = 0;
  Params params{&calls, 0};
  KernelPlan plan;
  KernelCounters counters;
  ClockTimer timer;
};

TEST_F(RunOpTest, RunsTheOperatorsOwnVariantsWithoutACatalog) {
  ASSERT_TRUE(Call(-1).ok());
  ASSERT_TRUE(Call(-1).ok());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Counted(), 2);
  const auto times = timer.Take();
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].variant, "loops");
  EXPECT_EQ(times[0].calls, 2);
  EXPECT_TRUE(timer.Take().empty());
}

TEST_F(RunOpTest, CountsAnEmptyCallAndLaunchesNothing) {
  ASSERT_TRUE(Call(-1, true).ok());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(Counted(), 1);
}

TEST_F(RunOpTest, RefusesADeviceTensorWithoutCudaVariants) {
  const absl::Status status = Call(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Counted(), 0);
  EXPECT_EQ(calls, 0);
}

TEST_F(RunOpTest, RunsTheVariantsOfALibraryAfterTheCatalogIsGone) {
  UseCuda();
  EXPECT_TRUE(Call(0).ok());
  EXPECT_EQ(counters.Uses().front().variant, "generic");
}

TEST_F(RunOpTest, SortsDeviceErrorsByWhatCanBeDone) {
  UseCuda();
  params.error = 1;
  absl::Status status = Call(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("op=generic"), HasSubstr("refused"), HasSubstr("x fp32 [2]")));
  params.error = 2;
  EXPECT_EQ(Call(0).code(), absl::StatusCode::kResourceExhausted);
  params.error = 700;
  EXPECT_EQ(Call(0).code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace reel::kernels
