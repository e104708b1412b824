// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/variant_table.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/dispatch/absl_view.h"

namespace reel::kernels {
namespace {

// The name of the framework's own variants, which the profile "reference" runs.
constexpr std::string_view kFrameworkVariant = "aten";

std::string NamesThatRun(absl::Span<const CatalogVariant> candidates, const VariantQuery& query) {
  std::vector<std::string> names;
  for (const CatalogVariant& candidate : candidates) {
    if (Fits(candidate, query)) names.emplace_back(candidate.variant.name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

absl::StatusOr<const CatalogVariant*> ForcedVariant(absl::Span<const CatalogVariant> candidates,
                                                    const VariantQuery& query,
                                                    std::string_view name) {
  for (const CatalogVariant& candidate : candidates) {
    if (candidate.variant.name != name) continue;
    if (Fits(candidate, query)) return &candidate;
    return absl::FailedPreconditionError(absl::StrCat(
        "The chosen variant cannot take this call: ", View(query.op), "=", View(name), ", ",
        WhyNot(candidate, query), "; these can: ", NamesThatRun(candidates, query)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("The chosen variant does not exist: ", View(query.op), "=", View(name),
                   "; these can run: ", NamesThatRun(candidates, query)));
}

absl::Status NoneFits(absl::Span<const CatalogVariant> candidates, const VariantQuery& query) {
  std::vector<std::string> reasons;
  for (const CatalogVariant& candidate : candidates) {
    std::string reason = WhyNot(candidate, query);
    if (reason.empty()) reason = "it runs only where it is chosen by name";
    reasons.push_back(absl::StrCat(candidate.variant.name, ": ", reason));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "No variant can take this call: ", View(query.op), " ", DtypeName(query.dtype),
      query.device.device < 0 ? " on the CPU" : absl::StrCat(" on device ", query.device.device),
      reasons.empty() ? "; no variants for it are loaded" : "; ", absl::StrJoin(reasons, "; ")));
}

CatalogVariant EntryOf(const std::shared_ptr<const HostedVariant>& hosted) {
  const HostedVariantFacts& facts = hosted->facts();
  const KernelVariant variant{facts.variant.c_str(), facts.min_sm, facts.max_sm,
                              facts.dtypes,          nullptr,      nullptr};
  return {variant, facts.origin, nullptr, facts.params_size, hosted};
}

// The parameters of a launch; null: not known yet.
const void* CallFor(const CatalogVariant& candidate, const VariantQuery& query) {
  return candidate.is_framework() ? query.framework_call : query.params;
}

enum class Misfit { kNone, kNeedsDevice, kNeedsCpu, kCapability, kDtype, kForModels, kForm, kCall };

Misfit MisfitOf(const CatalogVariant& candidate, const VariantQuery& query) {
  const KernelVariant& variant = candidate.variant;
  const int sm = query.device.sm;
  if (query.device.device < 0) {
    if (variant.min_sm != kCpuOnly) return Misfit::kNeedsDevice;
  } else {
    if (variant.max_sm == kCpuOnly) return Misfit::kNeedsCpu;
    if (sm < variant.min_sm || sm > variant.max_sm) return Misfit::kCapability;
  }
  if ((variant.dtypes & MaskOf(query.dtype)) == 0) return Misfit::kDtype;
  const void* call = CallFor(candidate, query);
  if (call == nullptr) {
    const bool for_models = candidate.is_framework() && query.params != nullptr;
    return for_models ? Misfit::kForModels : Misfit::kNone;
  }
  if (candidate.is_plugin() && !query.for_plugins) return Misfit::kForm;
  const bool takes = candidate.hosted != nullptr
                         ? candidate.hosted->Accepts(call)
                         : variant.accepts == nullptr || variant.accepts(call);
  return takes ? Misfit::kNone : Misfit::kCall;
}

// Whether "auto" would give it the call, as far as the call is known.
bool IsPreferred(const CatalogVariant& candidate, const VariantQuery& query) {
  const void* call = CallFor(candidate, query);
  return candidate.hosted == nullptr || call == nullptr || candidate.hosted->Prefers(call);
}

}  // namespace

void VariantTable::Add(const OpVariants& op, const std::string& origin,
                       const CudaLibraryTable* library) {
  Op& entry = ops_[op.op];
  entry.params_size = op.params_size;
  for (int32_t i = 0; i < op.count; ++i) {
    entry.variants.push_back({op.variants[i], origin, library, op.params_size});
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
  const auto found = ops_.find(op);
  if (found == ops_.end() || found->second.params_size != params_size) return {};
  return found->second.variants;
}

bool Fits(const CatalogVariant& candidate, const VariantQuery& query) {
  return MisfitOf(candidate, query) == Misfit::kNone;
}

std::string WhyNot(const CatalogVariant& candidate, const VariantQuery& query) {
  const KernelVariant& variant = candidate.variant;
  switch (MisfitOf(candidate, query)) {
    case Misfit::kNone:
      return "";
    case Misfit::kNeedsDevice:
      return "it needs a CUDA device";
    case Misfit::kNeedsCpu:
      return "it runs on the CPU, and the tensors are on a device";
    case Misfit::kCapability:
      return absl::StrCat(
          "it runs on sm_", variant.min_sm,
          variant.max_sm == kAnyLaterSm ? " and later" : absl::StrCat(" to ", variant.max_sm),
          ", this device is sm_", query.device.sm);
    case Misfit::kDtype:
      return absl::StrCat("it does not compute in ", DtypeName(query.dtype));
    case Misfit::kForModels:
      return "it takes the calls of models";
    case Misfit::kForm:
      return "plug-ins do not take this form";
    case Misfit::kCall:
      break;
  }
  if (candidate.hosted != nullptr) return candidate.hosted->Reason(CallFor(candidate, query));
  return "it does not take these widths, strides or alignments";
}

absl::StatusOr<const CatalogVariant*> ChooseVariant(absl::Span<const CatalogVariant> candidates,
                                                    const VariantQuery& query,
                                                    const KernelPlan& plan) {
  std::string_view forced = plan.Choice(query.op);
  if (forced.empty() && plan.profile() == "reference") forced = kFrameworkVariant;
  const bool computes_in_bf16 = query.device.ComputesInBf16();
  if (query.dtype == Dtype::kBf16 && !computes_in_bf16 && forced != kFrameworkVariant) {
    return absl::FailedPreconditionError(absl::StrCat(
        "bf16 needs sm_80 or later, use fp16: ", View(query.op), " on sm_", query.device.sm));
  }
  if (!forced.empty()) return ForcedVariant(candidates, query, forced);
  for (const CatalogVariant& candidate : candidates) {
    if (Fits(candidate, query) && IsPreferred(candidate, query)) return &candidate;
  }
  return NoneFits(candidates, query);
}

}  // namespace reel::kernels
