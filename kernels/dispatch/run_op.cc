// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/run_op.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/call_recorder.h"
#include "kernels/dispatch/device_gone.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_timer.h"
#include "kernels/dispatch/variant_table.h"

namespace reel::kernels {
namespace {

absl::StatusCode CodeOf(DeviceErrorKind kind) {
  switch (kind) {
    case DeviceErrorKind::kOutOfMemory:
      return absl::StatusCode::kResourceExhausted;
    case DeviceErrorKind::kSticky:
      return absl::StatusCode::kAborted;
    case DeviceErrorKind::kOther:
      break;
  }
  return absl::StatusCode::kInternal;
}

// A plug-in reports its own failure; this adds which call it was.
absl::Status PluginError(const OpCall& call, const CatalogVariant& chosen,
                         const absl::Status& error) {
  return absl::Status(
      error.code(), absl::StrCat("A plug-in failed: ", call.cpu_variants.op, "=",
                                 chosen.variant.name, " of ", chosen.origin, ", ", error.message(),
                                 ", ", absl::StrJoin(call.tensors(), ", ")));
}

absl::Status LaunchError(const OpCall& call, const CatalogVariant& chosen, int32_t error) {
  const CudaLibraryTable* library = chosen.library;
  const auto kind = library == nullptr ? DeviceErrorKind::kOther : library->error_kind(error);
  const std::string name =
      library == nullptr ? absl::StrCat("error ", error) : library->error_name(error);
  const std::string message =
      absl::StrCat("The device refused a kernel: ", call.cpu_variants.op, "=", chosen.variant.name,
                   ", ", name, ", ", absl::StrJoin(call.tensors(), ", "));
  if (kind == DeviceErrorKind::kSticky && NeedsReset(error)) return DeviceGoneError(message);
  return absl::Status(CodeOf(kind), message);
}

absl::Status Launch(const OpCall& call, const CatalogVariant& chosen, const Execution& run) {
  if (chosen.hosted != nullptr) {
    const absl::Status status = chosen.hosted->Launch(call.params, run.stream);
    return status.ok() ? status : PluginError(call, chosen, status);
  }
  void* const where =
      run.stream.device < 0 ? const_cast<HostThreads*>(run.threads) : run.stream.handle;
  const int32_t error = chosen.variant.launch(call.params, where);
  return error == 0 ? absl::OkStatus() : LaunchError(call, chosen, error);
}

// The device of the call, as far as the plan's catalog knows it.
DeviceCapability CapabilityOf(const Execution& run) {
  const VariantTable* table = run.plan.table();
  const bool on_device = run.stream.device >= 0 && table != nullptr;
  return {.device = run.stream.device, .sm = on_device ? table->capability().sm : 0};
}

// Times `launch` if a timer is set.
template <typename Body>
absl::Status Timed(std::string_view op, const CatalogVariant& chosen, const Execution& run,
                   Body&& launch) {
  if (run.timer == nullptr) return launch();
  run.timer->Start(op, chosen.variant.name, run.stream);
  absl::Status status = launch();
  run.timer->Stop(run.stream);
  return status;
}

// The model's choice, if it still holds with the kernel's parameters known; otherwise null. Better
// variants have declined by device or type, so it is still the first.
const CatalogVariant* ConfirmedChoice(const OpCall& call, const VariantQuery& query,
                                      const Execution& run) {
  const ChosenForModel& chosen = run.chosen;
  const bool same = chosen.variant != nullptr && chosen.dtype == call.dtype &&
                    chosen.op == call.cpu_variants.op &&
                    chosen.variant->params_size == call.cpu_variants.params_size;
  return same && Fits(*chosen.variant, query) ? chosen.variant : nullptr;
}

// Without a catalog, or with one for other parameters, the operator's own CPU variants, built in
// `own`.
absl::StatusOr<const CatalogVariant*> ChooseKernel(const OpCall& call, const VariantQuery& query,
                                                   const Execution& run,
                                                   std::vector<CatalogVariant>& own) {
  const VariantTable* table = run.plan.table();
  const OpVariants& op = call.cpu_variants;
  absl::Span<const CatalogVariant> candidates;
  if (table != nullptr) candidates = table->Variants(op.op, op.params_size);
  if (candidates.empty()) {
    for (int32_t i = 0; i < op.count; ++i) own.push_back({op.variants[i], "built-in"});
    candidates = own;
  }
  if (query.device.device >= 0 && (table == nullptr || table->capability().device < 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("This process has no CUDA kernels, and the tensors are on device ",
                     query.device.device, ": ", op.op));
  }
  return ChooseVariant(candidates, query, run.plan);
}

}  // namespace

absl::Status RunModelCall(const FrameworkCall& call, const Execution& run, KernelsOp kernels) {
  const VariantTable* table = run.plan.table();
  if (table == nullptr) return kernels(run);
  const VariantQuery query{
      .op = call.op, .dtype = call.dtype, .framework_call = call.call, .device = CapabilityOf(run)};
  REEL_ASSIGN_OR_RETURN(const CatalogVariant* chosen,
                        ChooseVariant(table->Variants(call.op), query, run.plan));
  if (!chosen->is_framework()) {
    Execution told = run;
    told.chosen = {chosen, call.op, call.dtype};
    return kernels(told);
  }
  run.counters.Count(call.op, chosen->variant.name);
  return Timed(call.op, *chosen, run,
               [&] { return chosen->hosted->Launch(call.call, run.stream); });
}

absl::Status RunOp(const OpCall& call, const Execution& run) {
  const OpVariants& op = call.cpu_variants;
  const VariantQuery query{.op = op.op,
                           .dtype = call.dtype,
                           .params = call.params,
                           .device = CapabilityOf(run),
                           .for_plugins = call.for_plugins};
  const CatalogVariant* chosen = ConfirmedChoice(call, query, run);
  std::vector<CatalogVariant> own;
  if (chosen == nullptr) {
    REEL_ASSIGN_OR_RETURN(chosen, ChooseKernel(call, query, run, own));
  }
  run.counters.Count(op.op, chosen->variant.name);
  if (run.recorder != nullptr) run.recorder->Record({op.op, call.tensors()});
  if (call.empty) return absl::OkStatus();
  return Timed(op.op, *chosen, run, [&] { return Launch(call, *chosen, run); });
}

}  // namespace reel::kernels
