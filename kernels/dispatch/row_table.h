// SPDX-License-Identifier: Apache-2.0
// The rows behind a catalog: what can be launched, and the choice of one row for one call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_row.h"
#include "kernels/dispatch/plugin_row.h"

namespace reel::kernels {

// The device of a process as row selection sees it.
struct DeviceCapability {
  int device = -1;  // -1: CPU
  int sm = 0;       // major * 10 + minor; 0 on a CPU
};

// One row with the place that it came from.
struct CatalogRow {
  KernelRow row{};
  std::string origin;
  const CudaLibraryTable* library = nullptr;  // names and sorts its errors; null for CPU rows
  // Set for a plug-in's row, which launches itself; `row` then has its name and limits.
  std::shared_ptr<const PluginRow> plugin = nullptr;
};

// Immutable once shared by a catalog and its plans.
class RowTable {
 public:
  explicit RowTable(DeviceCapability capability) : capability_(capability) {}

  // Below the rows of the same operator that are there already.
  void Add(const OpRows& rows, const std::string& origin, const CudaLibraryTable* library);
  // The same for a plug-in's, of an operator that has rows.
  const CatalogRow& Add(std::shared_ptr<const PluginRow> plugin);

  const DeviceCapability& capability() const { return capability_; }
  // Best first; empty for an operator without rows here. `params_size` guards against a table that
  // was compiled with another layout of the parameters.
  absl::Span<const CatalogRow> Rows(std::string_view op, uint64_t params_size) const;
  // 0 for an operator without rows.
  uint64_t ParamsSize(std::string_view op) const;

 private:
  struct Op {
    uint64_t params_size = 0;
    std::vector<CatalogRow> rows;
  };
  DeviceCapability capability_;
  std::map<std::string, Op, std::less<>> ops_;
};

// One call, as far as its choice of a row goes.
struct RowQuery {
  std::string_view op;
  Dtype dtype = Dtype::kF32;
  const void* params = nullptr;
  DeviceCapability device;
  bool for_plugins = true;  // whether plug-ins know this form of the call
};

// Empty: the row can take the call; else why it cannot.
std::string WhyNot(const CatalogRow& candidate, const RowQuery& query);

// The forced row of the plan, or the first that fits. FAILED_PRECONDITION with the reasons and the
// names that could run; INVALID_ARGUMENT for a forced name that no row has.
absl::StatusOr<const CatalogRow*> ChooseRow(absl::Span<const CatalogRow> candidates,
                                            const RowQuery& query, const KernelPlan& plan);

}  // namespace reel::kernels
