// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/row_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reel::kernels {
namespace {

// The profile "reference" runs the framework's own operators, in rows of this name.
constexpr std::string_view kFrameworkRow = "aten";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::string NamesThatRun(absl::Span<const CatalogRow> candidates, const RowQuery& query) {
  std::vector<std::string> names;
  for (const CatalogRow& candidate : candidates) {
    if (WhyNot(candidate, query).empty()) names.emplace_back(candidate.row.variant);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

absl::StatusOr<const CatalogRow*> ForcedRow(absl::Span<const CatalogRow> candidates,
                                            const RowQuery& query, std::string_view name) {
  for (const CatalogRow& candidate : candidates) {
    if (candidate.row.variant != name) continue;
    const std::string reason = WhyNot(candidate, query);
    if (reason.empty()) return &candidate;
    return absl::FailedPreconditionError(
        absl::StrCat("The chosen variant cannot take this call: ", View(query.op), "=", View(name),
                     ", ", reason, "; these can: ", NamesThatRun(candidates, query)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("The chosen variant does not exist: ", View(query.op), "=", View(name),
                   "; these can run: ", NamesThatRun(candidates, query)));
}

}  // namespace

void RowTable::Add(const OpRows& rows, const std::string& origin, const CudaLibraryTable* library) {
  Op& op = ops_[rows.op];
  op.params_size = rows.params_size;
  for (int32_t i = 0; i < rows.count; ++i) op.rows.push_back({rows.rows[i], origin, library});
}

const CatalogRow& RowTable::Add(std::shared_ptr<const PluginRow> plugin) {
  const PluginRowFacts& facts = plugin->facts();
  const KernelRow row{facts.variant.c_str(), facts.min_sm, facts.max_sm,
                      facts.dtypes,          nullptr,      nullptr};
  return ops_[facts.op].rows.emplace_back(row, facts.origin, nullptr, std::move(plugin));
}

uint64_t RowTable::ParamsSize(std::string_view op) const {
  const auto found = ops_.find(op);
  return found == ops_.end() ? 0 : found->second.params_size;
}

absl::Span<const CatalogRow> RowTable::Rows(std::string_view op, uint64_t params_size) const {
  const auto found = ops_.find(op);
  if (found == ops_.end() || found->second.params_size != params_size) return {};
  return found->second.rows;
}

std::string WhyNot(const CatalogRow& candidate, const RowQuery& query) {
  const KernelRow& row = candidate.row;
  const bool on_cpu = query.device.device < 0;
  const bool cpu_row = row.max_sm == kCpuOnly;
  if (on_cpu && !cpu_row) return "it needs a CUDA device";
  if (!on_cpu && cpu_row) return "it runs on the CPU, and the tensors are on a device";
  if (!on_cpu && (query.device.sm < row.min_sm || query.device.sm > row.max_sm)) {
    return absl::StrCat("it runs on sm_", row.min_sm,
                        row.max_sm == kAnyLaterSm ? " and later" : absl::StrCat(" to ", row.max_sm),
                        ", this device is sm_", query.device.sm);
  }
  if ((row.dtypes & MaskOf(query.dtype)) == 0) {
    return absl::StrCat("it does not compute in ", DtypeName(query.dtype));
  }
  if (query.params == nullptr) return "";
  if (candidate.plugin != nullptr && !query.for_plugins) return "plug-ins do not take this form";
  const bool takes = candidate.plugin != nullptr
                         ? candidate.plugin->Accepts(query.params)
                         : row.accepts == nullptr || row.accepts(query.params);
  if (!takes) {
    return "it does not take these widths, strides or alignments";
  }
  return "";
}

absl::StatusOr<const CatalogRow*> ChooseRow(absl::Span<const CatalogRow> candidates,
                                            const RowQuery& query, const KernelPlan& plan) {
  if (query.device.device >= 0 && query.dtype == Dtype::kBf16 && query.device.sm < 80) {
    return absl::FailedPreconditionError(absl::StrCat(
        "bf16 needs sm_80 or later, use fp16: ", View(query.op), " on sm_", query.device.sm));
  }
  const std::string_view forced = plan.Choice(query.op);
  if (!forced.empty()) return ForcedRow(candidates, query, forced);
  if (plan.profile() == "reference") return ForcedRow(candidates, query, kFrameworkRow);
  std::vector<std::string> reasons;
  for (const CatalogRow& candidate : candidates) {
    std::string reason = WhyNot(candidate, query);
    if (reason.empty()) return &candidate;
    reasons.push_back(absl::StrCat(candidate.row.variant, ": ", reason));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "No variant can take this call: ", View(query.op), " ", DtypeName(query.dtype),
      query.device.device < 0 ? " on the CPU" : absl::StrCat(" on device ", query.device.device),
      reasons.empty() ? "; no rows for it are loaded" : "; ", absl::StrJoin(reasons, "; ")));
}

}  // namespace reel::kernels
