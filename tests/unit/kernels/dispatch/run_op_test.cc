// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/run_op.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/call_recorder.h"
#include "kernels/dispatch/clock_timer.h"
#include "kernels/dispatch/device_gone.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/variant_table.h"

namespace reel::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The checks keep a pointer to each tensor of a call.
template <typename View>
concept ChecksAsChannels = requires(ArgumentChecks& checks, View view, const TensorView& x) {
  checks.Channels("bias", view, x);
};
static_assert(ChecksAsChannels<const std::optional<TensorView>&>);
static_assert(!ChecksAsChannels<const TensorView&>, "it would point to a temporary");

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
          if (error == 700 || error == 214) return DeviceErrorKind::kSticky;
          return error == 2 ? DeviceErrorKind::kOutOfMemory : DeviceErrorKind::kOther;
        },
    .device_count = nullptr,
    .device_properties = nullptr,
    .event_create = nullptr,
    .event_record = nullptr,
    .nanoseconds_between = nullptr,
    .event_destroy = nullptr,
    .zeros_as_kernels = nullptr,
    .give_to_ranks = nullptr,
    .time_copies = nullptr,
};

class RunOpTest : public testing::Test {
 protected:
  absl::Status Call(int device, bool empty = false) {
    return RunOp({.cpu_variants = MakeVariants<Params>("op", kCpuVariants),
                  .dtype = Dtype::kF32,
                  .params = &params,
                  .empty = empty,
                  .tensors = [] { return std::vector<std::string>{"x fp32 [2]"}; }},
                 {.plan = plan,
                  .counters = counters,
                  .timer = &timer,
                  .stream = {.device = device, .handle = nullptr},
                  .recorder = &recorder});
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
  CallRecorder recorder;
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
  EXPECT_GE(timer.TakenSpan(), times[0].total_ns);
  EXPECT_TRUE(timer.Take().empty());
  EXPECT_EQ(timer.TakenSpan(), 0);
}

TEST_F(RunOpTest, RecordsTheTensorsOfACallAndNothingOfOneThatIsRefused) {
  ASSERT_TRUE(Call(-1).ok());
  EXPECT_FALSE(Call(0).ok());
  ASSERT_EQ(recorder.calls().size(), 1U);
  EXPECT_EQ(recorder.calls()[0].op, "op");
  EXPECT_THAT(recorder.calls()[0].tensors, testing::ElementsAre("x fp32 [2]"));
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
  EXPECT_FALSE(IsDeviceGone(Call(0)));
  params.error = 214;
  EXPECT_EQ(Call(0).code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(IsDeviceGone(Call(0)));
}

// A framework's variant: counts its launches in the call.
class FakeFramework : public HostedVariant {
 public:
  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void*) const override { return true; }
  absl::Status Launch(const void* call, DeviceStream) const override {
    ++**static_cast<int* const*>(call);
    return absl::OkStatus();
  }

 private:
  const HostedVariantFacts facts_{.op = "op",
                                  .variant = "aten",
                                  .origin = "framework",
                                  .min_sm = kCpuOnly,
                                  .max_sm = kAnyLaterSm,
                                  .dtypes = ~DtypeMask{0},
                                  .params_size = 0};
};

// Variants by the width that they take; how often each was asked.
struct WidthParams {
  int width;
};
int asked_even = 0;
bool IsEven(const WidthParams& of) {
  ++asked_even;
  return of.width % 2 == 0;
}
void RunNothing(const WidthParams&) {}
constexpr KernelVariant kByWidth[] = {CpuVariant<RunNothing, IsEven>("even"),
                                      CpuVariant<RunNothing>("loops")};

class RunModelCallTest : public RunOpTest {
 protected:
  KernelPlan PlanWith(KernelCatalog::Place place, const std::string& variant = "") {
    KernelCatalog catalog;
    catalog.AddVariants(MakeVariants<Params>("op", kCpuVariants), "built-in");
    catalog.AddFramework({std::make_shared<FakeFramework>()}, place);
    std::map<std::string, std::string> choices;
    if (!variant.empty()) choices["op"] = variant;
    return *catalog.Plan("", choices);
  }
  // Whether the framework has run it.
  bool CallOfAModel() {
    int* const call = &launches;
    bool by_kernels = false;
    EXPECT_TRUE(RunModelCall({.op = "op", .dtype = Dtype::kF32, .call = &call},
                             {.plan = plan, .counters = counters, .timer = &timer, .stream = {}},
                             [&](const Execution& told) {
                               by_kernels = true;
                               chosen = told.chosen.variant;
                               return absl::OkStatus();
                             })
                    .ok());
    return !by_kernels;
  }
  // A model's call that comes to the kernels with `width`, and the variant that runs it.
  absl::StatusOr<std::string> CallOfWidth(int width) {
    int* const call = &launches;
    const absl::Status status =
        RunModelCall({.op = "op", .dtype = Dtype::kF32, .call = &call},
                     {.plan = plan, .counters = counters, .timer = nullptr, .stream = {}},
                     [&](const Execution& told) {
                       const WidthParams of{width};
                       return RunOp({.cpu_variants = MakeVariants<WidthParams>("op", kByWidth),
                                     .dtype = Dtype::kF32,
                                     .params = &of,
                                     .tensors = [] { return std::vector<std::string>(); }},
                                    told);
                     });
    if (!status.ok()) return status;
    return counters.Uses().back().variant;
  }
  const CatalogVariant* chosen = nullptr;
  int launches = 0;
};

TEST_F(RunModelCallTest, RunsCountsAndTimesWhatComesFirst) {
  plan = PlanWith(KernelCatalog::Place::kFirst);
  EXPECT_TRUE(CallOfAModel());
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(counters.Uses().front().variant, "aten");
  EXPECT_EQ(timer.Take().front().variant, "aten");
}

TEST_F(RunModelCallTest, LeavesTheCallToAKernelThatComesFirstOrIsNamed) {
  for (const KernelPlan& other :
       {PlanWith(KernelCatalog::Place::kLast), PlanWith(KernelCatalog::Place::kFirst, "loops")}) {
    plan = other;
    EXPECT_FALSE(CallOfAModel());
    EXPECT_TRUE(counters.Uses().empty());
  }
  EXPECT_EQ(launches, 0);
  plan = PlanWith(KernelCatalog::Place::kLast, "aten");
  EXPECT_TRUE(CallOfAModel());
}

TEST_F(RunModelCallTest, LeavesTheCallToTheKernelsOfAPlanWithoutACatalog) {
  EXPECT_FALSE(CallOfAModel());
}

TEST_F(RunModelCallTest, AsksTheKernelThatItHasChosenAndNoOtherThatComesAfter) {
  KernelCatalog catalog;
  catalog.AddVariants(MakeVariants<WidthParams>("op", kByWidth), "built-in");
  catalog.AddFramework({std::make_shared<FakeFramework>()}, KernelCatalog::Place::kBelowTuned);
  plan = *catalog.Plan("", {});
  asked_even = 0;
  EXPECT_EQ(*CallOfWidth(8), "even");
  EXPECT_EQ(asked_even, 1);
  EXPECT_EQ(launches, 0);
}

TEST_F(RunModelCallTest, GivesAWidthThatItsKernelDeclinesToTheNextOne) {
  KernelCatalog catalog;
  catalog.AddVariants(MakeVariants<WidthParams>("op", kByWidth), "built-in");
  plan = *catalog.Plan("", {});
  EXPECT_EQ(*CallOfWidth(7), "loops");
  plan = *catalog.Plan("", {{"op", "even"}});
  const auto forced = CallOfWidth(7);
  EXPECT_EQ(forced.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(forced.status().message()), HasSubstr("these can: loops"));
}

TEST_F(RunModelCallTest, HandsTheChoiceOnOnlyWithACatalog) {
  EXPECT_FALSE(CallOfAModel());
  EXPECT_EQ(chosen, nullptr);
  plan = PlanWith(KernelCatalog::Place::kLast);
  EXPECT_FALSE(CallOfAModel());
  ASSERT_NE(chosen, nullptr);
  EXPECT_STREQ(chosen->variant.name, "loops");
}

}  // namespace
}  // namespace reel::kernels
