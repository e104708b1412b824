// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/file_origin.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/origin/origin_text.h"

namespace reel::worker {
namespace {

// The variants that the plan gives the operators that the model calls.
std::map<std::string, std::string> VariantsOf(const HeldJob& job,
                                              const kernels::KernelCatalog& catalog) {
  std::map<std::string, std::string> variants;
  for (const kernels::OpListing& op : catalog.List()) {
    const auto& calls = job.pipeline->card().calls;
    if (std::ranges::none_of(calls, [&](const auto& call) { return call.op == op.op; })) continue;
    const std::string_view chosen = job.plan.Choice(op.op);
    const auto by_itself = std::ranges::find_if(op.variants, &kernels::VariantListing::is_auto);
    if (!chosen.empty()) {
      variants[op.op] = std::string(chosen);
    } else if (by_itself != op.variants.end()) {
      variants[op.op] = by_itself->name;
    }
  }
  return variants;
}

}  // namespace

std::string KindOf(const std::string& device) {
  const size_t space = device.find(' ');
  if (space == std::string::npos) return device;
  const auto end = device.begin() + static_cast<std::ptrdiff_t>(space);
  const auto members = 1 + std::count(device.begin(), end, '+');
  const std::string kind = device.substr(space + 1);
  return members == 1 ? kind : absl::StrCat(members, " x ", kind);
}

absl::StatusOr<FileOrigin> OriginOfFile(const HeldJob& job, const kernels::KernelCatalog& catalog,
                                        const std::string& device) {
  FileOrigin file;
  const model::Origin wanted = job.spec.encoding.origin;
  if (wanted == model::Origin::kNone) return file;
  const model::ModelCard& card = job.pipeline->card();
  file.mark = model::MarkOf(card);
  if (wanted != model::Origin::kSpec) return file;
  REEL_ASSIGN_OR_RETURN(
      file.origin, model::OriginOf(job.spec, card, {KindOf(device), VariantsOf(job, catalog)}));
  return file;
}

}  // namespace reel::worker
