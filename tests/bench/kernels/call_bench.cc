// SPDX-License-Identifier: Apache-2.0
// The host's nanoseconds for a call of an operator: rows so small that almost nothing is computed.
//
//   kernel_call_bench [--rounds 15] [--calls 20000]
//
// `dispatch` rows choose and launch empty kernels as a device of that capability would; `model`
// rows call operators on a CPU through model/bridge, memory for the result included.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/time/clock.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/run_op.h"
#include "model/bridge/attention_ops.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/ops.h"

ABSL_FLAG(int, rounds, 15, "Rounds; the fastest and the median are told");
ABSL_FLAG(int, calls, 20000, "Calls a round");

namespace reel {
namespace {

struct Timed {
  std::string name;
  std::function<void()> call;
};

double NanosecondsPerCall(const Timed& timed, int calls) {
  const absl::Time start = absl::Now();
  for (int i = 0; i < calls; ++i) timed.call();
  return absl::ToDoubleNanoseconds(absl::Now() - start) / calls;
}

// Cases take turns, so that all see the same machine.
void Report(const std::vector<Timed>& all) {
  const int rounds = std::max(1, absl::GetFlag(FLAGS_rounds));
  const int calls = std::max(1, absl::GetFlag(FLAGS_calls));
  std::vector<std::vector<double>> times(all.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) times[i].push_back(NanosecondsPerCall(all[i], calls));
  }
  std::printf("| call | fastest ns | median ns |\n|---|---|---|\n");
  for (size_t i = 0; i < all.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    std::printf("| %s | %.0f | %.0f |\n", all[i].name.c_str(), times[i].front(),
                times[i][times[i].size() / 2]);
  }
}

namespace kernel_calls {

using namespace kernels;  // NOLINT(google-build-using-namespace)

struct Params {
  int64_t width;
};
int32_t LaunchNothing(const Params&, void*) { return 0; }
bool TakesEven(const Params& params) { return params.width % 2 == 0; }
bool TakesNone(const Params&) { return false; }
void Nothing(const Params&) {}

// As the catalog has them for gate_residual_adaln.
constexpr KernelVariant kCuda[] = {
    Sm90Variant<LaunchNothing, TakesEven>(),
    Sm90Variant<LaunchNothing, TakesNone>(kAnyFloating, kE4m3Sm90),
    Sm90Variant<LaunchNothing, TakesNone>(kSixteenBit, kInt8Sm90),
    Sm80Variant<LaunchNothing, TakesEven>(),
    Sm80Variant<LaunchNothing, TakesNone>(kAnyFloating, kE4m3Sm80),
    Sm80Variant<LaunchNothing, TakesEven>(kAnyFloating, kGeneralSm80),
    GenericCudaVariant<LaunchNothing>(),
};
constexpr KernelVariant kCpu[] = {CpuVariant<Nothing, TakesEven>("cpu"),
                                  CpuVariant<Nothing>("loops")};

Timed Dispatched(int sm, int64_t width, KernelCounters& counters) {
  KernelCatalog catalog({.device = sm == 0 ? -1 : 0, .sm = sm});
  if (sm != 0) {
    catalog.AddVariants(MakeVariants<Params>("gate_residual_adaln", kCuda), "built-in");
    catalog.AddVariants(MakeVariants<Params>("gate_residual_adaln", kCpu), "built-in");
  }
  for (const OpVariants& op : BuiltInCpuVariants()) {
    if (std::string(op.op) != "gate_residual_adaln") catalog.AddVariants(op, "built-in");
  }
  if (sm == 0) {
    catalog.AddVariants(MakeVariants<Params>("gate_residual_adaln", kCuda), "built-in");
    catalog.AddVariants(MakeVariants<Params>("gate_residual_adaln", kCpu), "built-in");
  }
  const KernelPlan plan = *catalog.Plan("auto", {});
  const std::string name = "dispatch, " + (sm == 0 ? "cpu" : "sm_" + std::to_string(sm)) +
                           (width % 2 == 0 ? ", plain" : ", odd");
  return {name, [plan, sm, width, &counters] {
            const Params params{width};
            const absl::Status status =
                RunOp({.cpu_variants = MakeVariants<Params>("gate_residual_adaln", kCpu),
                       .dtype = Dtype::kF16,
                       .params = &params,
                       .tensors = [] { return std::vector<std::string>(); }},
                      {.plan = plan,
                       .counters = counters,
                       .timer = nullptr,
                       .stream = {.device = sm == 0 ? -1 : 0, .handle = nullptr}});
            if (!status.ok()) std::abort();
          }};
}

}  // namespace kernel_calls

std::vector<Timed> ModelCalls(const model::Ops& ops) {
  const at::Tensor x = at::randn({1, 2, 64}), y = at::randn({1, 2, 64});
  const at::Tensor vector = at::randn({1, 1, 64}), weight = at::randn({64});
  const at::Tensor square = at::randn({64, 64}), heads = at::randn({1, 2, 1, 64});
  return {
      {"model, rms_norm", [=, &ops] { ops.RmsNorm(x, weight, 1e-6); }},
      {"model, adaln_rms_norm", [=, &ops] { ops.AdalnRmsNorm(x, {vector, vector, 1e-6}); }},
      {"model, gate_residual", [=, &ops] { ops.GateResidual(x, y, vector); }},
      {"model, gate_residual_adaln",
       [=, &ops] { ops.GateResidualAdaln(x, y, vector, {vector, vector, 1e-6}); }},
      {"model, activation", [=, &ops] { ops.GeluTanh(x); }},
      {"model, linear", [=, &ops] { ops.Linear(x, square, weight); }},
      {"model, attention", [=, &ops] { Attention(ops, heads, heads, heads, {}, 0); }},
  };
}

int Main() {
  kernels::KernelCounters counters;
  std::vector<Timed> all;
  for (const int sm : {90, 80, 75, 0}) {
    for (const int64_t width : {64, 63}) {
      all.push_back(kernel_calls::Dispatched(sm, width, counters));
    }
  }
  kernels::KernelCatalog catalog = kernels::BuiltInCatalog();
  model::AddFrameworkVariants(catalog);
  const kernels::KernelPlan plan = *catalog.Plan("auto", {});
  const model::Ops ops({.plan = plan, .counters = counters, .timer = nullptr, .stream = {}});
  for (Timed& timed : ModelCalls(ops)) all.push_back(std::move(timed));
  Report(all);
  return 0;
}

}  // namespace
}  // namespace reel

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return reel::Main();
}
