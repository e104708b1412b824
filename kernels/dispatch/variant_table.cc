// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/variant_table.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/dispatch/absl_view.h"

namespace reel::kernels {
namespace {

// The profile "reference" runs the framework's own operators, in variants of this name.
constexpr std::string_view kFrameworkVariant = "aten";

std::string NamesThatRun(absl::Span<const CatalogVariant> candidates, const VariantQuery& query) {
  std::vector<std::string> names;
  for (const CatalogVariant& candidate : candidates) {
    if (WhyNot(candidate, query).empty()) names.emplace_back(candidate.variant.name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

absl::StatusOr<const CatalogVariant*> ForcedVariant(absl::Span<const CatalogVariant> candidates,
                                                    const VariantQuery& query,
                                                    std::string_view name) {
  for (const CatalogVariant& candidate : candidates) {
    if (candidate.variant.name != name) continue;
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

CatalogVariant EntryOf(const std::shared_ptr<const HostedVariant>& hosted) {
  const HostedVariantFacts& facts = hosted->facts();
  const KernelVariant variant{facts.variant.c_str(), facts.min_sm, facts.max_sm,
                              facts.dtypes,          nullptr,      nullptr};
  return {variant, facts.origin, nullptr, hosted};
}

std::string WhyNotHosted(const HostedVariant& hosted, const void* call) {
  return hosted.Accepts(call) ? "" : hosted.Reason(call);
}

// Whether "auto" would give it the call, as far as the call is known.
bool IsPreferred(const CatalogVariant& candidate, const VariantQuery& query) {
  const void* call = candidate.is_framework() ? query.framework_call : query.params;
  return candidate.hosted == nullptr || call == nullptr || candidate.hosted->Prefers(call);
}

}  // namespace

void VariantTable::Add(const OpVariants& op, const std::string& origin,
                       const CudaLibraryTable* library) {
  Op& entry = ops_[op.op];
  entry.params_size = op.params_size;
  for (int32_t i = 0; i < op.count; ++i) {
    entry.variants.push_back({op.variants[i], origin, library});
  }
}

void VariantTable::Add(const HostedVariants& variants) {
  for (const auto& hosted : variants) {
    ops_[hosted->facts().op].variants.push_back(EntryOf(hosted));
  }
}

void VariantTable::AddAt(size_t place, const HostedVariants& variants) {
  for (auto hosted = variants.rbegin(); hosted != variants.rend(); ++hosted) {
    auto& all = ops_[(*hosted)->facts().op].variants;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(place), EntryOf(*hosted));
  }
}

void VariantTable::AddFirst(const HostedVariants& variants) { AddAt(0, variants); }

void VariantTable::AddBelowTuned(const HostedVariants& variants) {
  size_t place = 0;
  for (const CatalogVariant& there : Variants(variants[0]->facts().op)) {
    const KernelVariant& variant = there.variant;
    if (variant.accepts == nullptr && there.hosted == nullptr) break;
    ++place;
  }
  AddAt(place, variants);
}

std::vector<std::string> VariantTable::Ops() const {
  std::vector<std::string> names;
  for (const auto& [name, op] : ops_) names.push_back(name);
  return names;
}

absl::Span<const CatalogVariant> VariantTable::Variants(std::string_view op) const {
  const auto found = ops_.find(op);
  if (found == ops_.end()) return {};
  return found->second.variants;
}

uint64_t VariantTable::ParamsSize(std::string_view op) const {
  const auto found = ops_.find(op);
  return found == ops_.end() ? 0 : found->second.params_size;
}

absl::Span<const CatalogVariant> VariantTable::Variants(std::string_view op,
                                                        uint64_t params_size) const {
  if (ParamsSize(op) != params_size) return {};
  return Variants(op);
}

std::string WhyNot(const CatalogVariant& candidate, const VariantQuery& query) {
  const KernelVariant& variant = candidate.variant;
  const bool on_cpu = query.device.device < 0;
  if (on_cpu && variant.min_sm != kCpuOnly) return "it needs a CUDA device";
  if (!on_cpu && variant.max_sm == kCpuOnly) {
    return "it runs on the CPU, and the tensors are on a device";
  }
  if (!on_cpu && (query.device.sm < variant.min_sm || query.device.sm > variant.max_sm)) {
    return absl::StrCat(
        "it runs on sm_", variant.min_sm,
        variant.max_sm == kAnyLaterSm ? " and later" : absl::StrCat(" to ", variant.max_sm),
        ", this device is sm_", query.device.sm);
  }
  if ((variant.dtypes & MaskOf(query.dtype)) == 0) {
    return absl::StrCat("it does not compute in ", DtypeName(query.dtype));
  }
  if (candidate.is_framework() && query.framework_call != nullptr) {
    return WhyNotHosted(*candidate.hosted, query.framework_call);
  }
  if (query.params == nullptr) return "";
  if (candidate.is_framework()) return "it takes the calls of models";
  if (candidate.is_plugin()) {
    if (!query.for_plugins) return "plug-ins do not take this form";
    return WhyNotHosted(*candidate.hosted, query.params);
  }
  const bool takes = variant.accepts == nullptr || variant.accepts(query.params);
  return takes ? "" : "it does not take these widths, strides or alignments";
}

absl::StatusOr<const CatalogVariant*> ChooseVariant(absl::Span<const CatalogVariant> candidates,
                                                    const VariantQuery& query,
                                                    const KernelPlan& plan) {
  std::string_view forced = plan.Choice(query.op);
  if (forced.empty() && plan.profile() == "reference") forced = kFrameworkVariant;
  const bool computes_in_bf16 = query.device.device < 0 || query.device.sm >= 80;
  if (query.dtype == Dtype::kBf16 && !computes_in_bf16 && forced != kFrameworkVariant) {
    return absl::FailedPreconditionError(absl::StrCat(
        "bf16 needs sm_80 or later, use fp16: ", View(query.op), " on sm_", query.device.sm));
  }
  if (!forced.empty()) return ForcedVariant(candidates, query, forced);
  std::vector<std::string> reasons;
  for (const CatalogVariant& candidate : candidates) {
    std::string reason = WhyNot(candidate, query);
    if (reason.empty() && IsPreferred(candidate, query)) return &candidate;
    if (reason.empty()) reason = "it runs only where it is chosen by name";
    reasons.push_back(absl::StrCat(candidate.variant.name, ": ", reason));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "No variant can take this call: ", View(query.op), " ", DtypeName(query.dtype),
      query.device.device < 0 ? " on the CPU" : absl::StrCat(" on device ", query.device.device),
      reasons.empty() ? "; no variants for it are loaded" : "; ", absl::StrJoin(reasons, "; ")));
}

}  // namespace reel::kernels
