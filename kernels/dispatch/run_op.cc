// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/run_op.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_timer.h"
#include "kernels/dispatch/row_table.h"

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
absl::Status PluginError(const OpCall& call, const CatalogRow& chosen, const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat("A plug-in failed: ", call.cpu_rows.op, "=",
                                                 chosen.row.variant, " of ", chosen.origin, ", ",
                                                 error.message(), ", ", call.shapes()));
}

absl::Status LaunchError(const OpCall& call, const CatalogRow& chosen, int32_t error) {
  const CudaLibraryTable* library = chosen.library;
  const auto kind = library == nullptr ? DeviceErrorKind::kOther : library->error_kind(error);
  const std::string name =
      library == nullptr ? absl::StrCat("error ", error) : library->error_name(error);
  return absl::Status(CodeOf(kind),
                      absl::StrCat("The device refused a kernel: ", call.cpu_rows.op, "=",
                                   chosen.row.variant, ", ", name, ", ", call.shapes()));
}

absl::Status Launch(const OpCall& call, const CatalogRow& chosen, DeviceStream stream) {
  if (chosen.plugin != nullptr) {
    const absl::Status status = chosen.plugin->Launch(call.params, stream);
    return status.ok() ? status : PluginError(call, chosen, status);
  }
  const int32_t error = chosen.row.launch(call.params, stream.handle);
  return error == 0 ? absl::OkStatus() : LaunchError(call, chosen, error);
}

}  // namespace

absl::Status RunOp(const OpCall& call, const Execution& run) {
  const RowTable* table = run.plan.rows();
  DeviceCapability device{.device = run.stream.device, .sm = 0};
  absl::Span<const CatalogRow> candidates;
  std::vector<CatalogRow> own;
  if (table != nullptr) {
    if (device.device >= 0) device.sm = table->capability().sm;
    candidates = table->Rows(call.cpu_rows.op, call.cpu_rows.params_size);
  }
  if (candidates.empty()) {
    for (int32_t i = 0; i < call.cpu_rows.count; ++i) {
      own.push_back({call.cpu_rows.rows[i], "built-in"});
    }
    candidates = own;
  }
  if (device.device >= 0 && (table == nullptr || table->capability().device < 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("This process has no CUDA kernels, and the tensors are on device ",
                     device.device, ": ", call.cpu_rows.op));
  }
  const RowQuery query{.op = call.cpu_rows.op,
                       .dtype = call.dtype,
                       .params = call.params,
                       .device = device,
                       .for_plugins = call.for_plugins};
  REEL_ASSIGN_OR_RETURN(const CatalogRow* chosen, ChooseRow(candidates, query, run.plan));
  run.counters.Count(call.cpu_rows.op, chosen->row.variant);
  if (call.empty) return absl::OkStatus();
  if (run.timer != nullptr) run.timer->Start(call.cpu_rows.op, chosen->row.variant, run.stream);
  absl::Status status = Launch(call, *chosen, run.stream);
  if (run.timer != nullptr) run.timer->Stop(run.stream);
  return status;
}

}  // namespace reel::kernels
