// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/run_op.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
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

// A plug-in speaks of its own failure; here it learns which call it was.
absl::Status PluginError(const OpCall& call, const CatalogVariant& chosen,
                         const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat("A plug-in failed: ", call.cpu_variants.op, "=",
                                                 chosen.variant.name, " of ", chosen.origin, ", ",
                                                 error.message(), ", ", call.shapes()));
}

absl::Status LaunchError(const OpCall& call, const CatalogVariant& chosen, int32_t error) {
  const CudaLibraryTable* library = chosen.library;
  const auto kind = library == nullptr ? DeviceErrorKind::kOther : library->error_kind(error);
  const std::string name =
      library == nullptr ? absl::StrCat("error ", error) : library->error_name(error);
  return absl::Status(CodeOf(kind),
                      absl::StrCat("The device refused a kernel: ", call.cpu_variants.op, "=",
                                   chosen.variant.name, ", ", name, ", ", call.shapes()));
}

absl::Status Launch(const OpCall& call, const CatalogVariant& chosen, DeviceStream stream) {
  if (chosen.plugin != nullptr) {
    const absl::Status status = chosen.plugin->Launch(call.params, stream);
    return status.ok() ? status : PluginError(call, chosen, status);
  }
  const int32_t error = chosen.variant.launch(call.params, stream.handle);
  return error == 0 ? absl::OkStatus() : LaunchError(call, chosen, error);
}

}  // namespace

absl::Status RunOp(const OpCall& call, const Execution& run) {
  const VariantTable* table = run.plan.table();
  DeviceCapability device{.device = run.stream.device, .sm = 0};
  absl::Span<const CatalogVariant> candidates;
  std::vector<CatalogVariant> own;
  if (table != nullptr) {
    if (device.device >= 0) device.sm = table->capability().sm;
    candidates = table->Variants(call.cpu_variants.op, call.cpu_variants.params_size);
  }
  if (candidates.empty()) {
    for (int32_t i = 0; i < call.cpu_variants.count; ++i) {
      own.push_back({call.cpu_variants.variants[i], "built-in"});
    }
    candidates = own;
  }
  if (device.device >= 0 && (table == nullptr || table->capability().device < 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("This process has no CUDA kernels, and the tensors are on device ",
                     device.device, ": ", call.cpu_variants.op));
  }
  const VariantQuery query{.op = call.cpu_variants.op,
                           .dtype = call.dtype,
                           .params = call.params,
                           .device = device,
                           .for_plugins = call.for_plugins};
  REEL_ASSIGN_OR_RETURN(const CatalogVariant* chosen, ChooseVariant(candidates, query, run.plan));
  run.counters.Count(call.cpu_variants.op, chosen->variant.name);
  if (call.empty) return absl::OkStatus();
  if (run.timer != nullptr)
    run.timer->Start(call.cpu_variants.op, chosen->variant.name, run.stream);
  absl::Status status = Launch(call, *chosen, run.stream);
  if (run.timer != nullptr) run.timer->Stop(run.stream);
  return status;
}

}  // namespace reel::kernels
