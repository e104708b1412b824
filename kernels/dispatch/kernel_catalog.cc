// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/kernel_catalog.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/absl_view.h"
#include "kernels/dispatch/kernel_profiles.h"

namespace reel::kernels {
namespace {

std::string Names(const std::vector<OpListing>& ops) {
  return absl::StrJoin(ops, ", ", [](std::string* out, const OpListing& op) { *out += op.op; });
}

std::string NamesOf(const OpListing& op, bool only_running) {
  std::vector<std::string> names;
  for (const VariantListing& variant : op.variants) {
    if (variant.runs || !only_running) names.push_back(variant.name);
  }
  return absl::StrJoin(names, ", ");
}

bool ComputesIn(const VariantListing& variant, const std::string& dtype) {
  return variant.dtypes.empty() ||
         std::count(variant.dtypes.begin(), variant.dtypes.end(), dtype) > 0;
}

std::string NamesForType(const OpListing& op, const std::string& dtype) {
  std::vector<std::string> names;
  for (const VariantListing& variant : op.variants) {
    if (variant.runs && ComputesIn(variant, dtype)) names.push_back(variant.name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

// Whether a variant fits the device does not depend on the call: use any dtype that it has.
VariantListing ListingOf(std::string_view op, const CatalogVariant& candidate,
                         const DeviceCapability& capability) {
  const KernelVariant& variant = candidate.variant;
  Dtype dtype = Dtype::kF32;
  std::vector<std::string> dtypes;
  for (const Dtype known : {Dtype::kF32, Dtype::kBf16, Dtype::kF16}) {
    if ((variant.dtypes & MaskOf(known)) == 0) continue;
    dtype = known;
    dtypes.emplace_back(DtypeName(known));
  }
  const std::string reason =
      WhyNot(candidate, {.op = "", .dtype = dtype, .params = nullptr, .device = capability});
  return {
      .name = variant.name,
      .origin = candidate.origin,
      .runs = reason.empty(),
      .is_auto = false,
      .reason = reason,
      .dtypes = std::move(dtypes),
      .is_lossy = IsLossyVariant(op, variant.name),
      .for_some_sizes = candidate.hosted != nullptr && candidate.hosted->facts().for_some_sizes};
}

// "auto" picks the first variant that runs and whose predicate takes the call.
void MarkAuto(OpListing& op) {
  bool found = false;
  for (VariantListing& variant : op.variants) {
    variant.is_auto = variant.runs && !variant.is_lossy && !variant.for_some_sizes && !found;
    found = found || variant.is_auto;
  }
}

}  // namespace

void KernelCatalog::Publish(std::shared_ptr<const VariantTable> table) {
  ops_.clear();
  for (const std::string& op : table->Ops()) {
    OpListing listing{.op = op, .variants = {}};
    for (const CatalogVariant& variant : table->Variants(op)) {
      listing.variants.push_back(ListingOf(op, variant, capability_));
    }
    MarkAuto(listing);
    ops_.push_back(std::move(listing));
  }
  table_ = std::move(table);
}

VariantTable KernelCatalog::CopyOfTable() const {
  return table_ == nullptr ? VariantTable(capability_) : *table_;
}

void KernelCatalog::AddVariants(const OpVariants& op, const std::string& origin,
                                const CudaLibraryTable* library) {
  VariantTable table = CopyOfTable();
  table.Add(op, origin, library);
  Publish(std::make_shared<VariantTable>(std::move(table)));
}

void KernelCatalog::AddFramework(const HostedVariants& variants, Place place) {
  VariantTable table = CopyOfTable();
  switch (place) {
    case Place::kFirst:
      table.AddFirst(variants);
      break;
    case Place::kBelowTuned:
      table.AddBelowTuned(variants);
      break;
    case Place::kLast:
      table.Add(variants);
      break;
  }
  Publish(std::make_shared<VariantTable>(std::move(table)));
}

absl::Status KernelCatalog::AddPlugin(std::shared_ptr<const HostedVariant> plugin) {
  const HostedVariantFacts& facts = plugin->facts();
  const uint64_t size = table_ == nullptr ? 0 : table_->ParamsSize(facts.op);
  if (size == 0) {
    return absl::InvalidArgumentError(absl::StrCat("A plug-in implements operators of Reel; '",
                                                   facts.op, "' is none; known: ", Names(ops_)));
  }
  if (size != facts.params_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("The plug-in was built for other parameters of the operator: ", facts.op,
                     " of ", facts.params_size, " bytes, here ", size));
  }
  for (const std::string& variant : VariantNames(facts.op)) {
    if (variant != facts.variant) continue;
    return absl::AlreadyExistsError(absl::StrCat(
        "The operator has a variant of this name; give the plug-in another one: ", facts.op, "=",
        facts.variant));
  }
  VariantTable table = CopyOfTable();
  table.Add({std::move(plugin)});
  Publish(std::make_shared<VariantTable>(std::move(table)));
  return absl::OkStatus();
}

absl::Span<const CatalogVariant> KernelCatalog::Variants(std::string_view op) const {
  if (table_ == nullptr) return {};
  return table_->Variants(op, table_->ParamsSize(op));
}

std::vector<std::string> KernelCatalog::VariantNames(std::string_view op) const {
  std::vector<std::string> names;
  for (const OpListing& listing : ops_) {
    if (listing.op != op) continue;
    for (const VariantListing& variant : listing.variants) names.push_back(variant.name);
  }
  return names;
}

absl::StatusOr<KernelPlan> KernelCatalog::Plan(
    std::string_view profile, const std::map<std::string, std::string>& variants) const {
  REEL_ASSIGN_OR_RETURN(KernelPlan plan, MakePlan(ops_, profile, variants));
  plan.set_table(table_);
  return plan;
}

absl::StatusOr<KernelPlan> MakePlan(const std::vector<OpListing>& ops, std::string_view profile,
                                    const std::map<std::string, std::string>& variants,
                                    const std::vector<KernelCall>& calls) {
  if (profile.empty()) profile = "auto";
  const auto& profiles = BuiltInProfiles();
  if (std::find(profiles.begin(), profiles.end(), profile) == profiles.end()) {
    return absl::InvalidArgumentError(absl::StrCat("Unknown kernel profile '", View(profile),
                                                   "'; known: ", absl::StrJoin(profiles, ", ")));
  }
  // A process without a list of operators has not reported it yet.
  if (!ops.empty()) REEL_RETURN_IF_ERROR(CheckProfileRuns(ops, profile));
  std::map<std::string, std::string, std::less<>> choices;
  for (const auto& [op_name, variant_name] : variants) {
    const auto op = std::find_if(ops.begin(), ops.end(),
                                 [&](const OpListing& known) { return known.op == op_name; });
    if (op == ops.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Unknown operator '", op_name, "'; known: ", Names(ops)));
    }
    const auto variant =
        std::find_if(op->variants.begin(), op->variants.end(),
                     [&](const VariantListing& known) { return known.name == variant_name; });
    if (variant == op->variants.end()) {
      return absl::InvalidArgumentError(absl::StrCat("Operator '", op_name, "' has no variant '",
                                                     variant_name,
                                                     "'; it has: ", NamesOf(*op, false)));
    }
    if (!variant->runs) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Variant '", variant_name, "' of '", op_name, "' cannot run here: ", variant->reason,
          "; these can: ", NamesOf(*op, true)));
    }
    for (const KernelCall& call : calls) {
      if (call.op != op_name || ComputesIn(*variant, call.dtype)) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "Variant '", variant_name, "' of '", op_name, "' does not compute in ", call.dtype,
          ", as the model does; these can: ", NamesForType(*op, call.dtype)));
    }
    choices[op_name] = variant_name;
  }
  return KernelPlan(std::string(profile), std::move(choices));
}

}  // namespace reel::kernels
