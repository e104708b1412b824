// SPDX-License-Identifier: Apache-2.0
// Every variant of every operator that this process has: built-in CPU variants, those of the CUDA
// library, of plug-ins. Built once in main, then read only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_listing.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/variant_table.h"

namespace reel::kernels {

class KernelCatalog {
 public:
  // For a CPU.
  KernelCatalog() = default;
  // For the device of this process.
  explicit KernelCatalog(DeviceCapability capability) : capability_(capability) {}

  // Variants of one operator that its calls can choose. `library` is where they live (null: here)
  // and stays loaded.
  void AddVariants(const OpVariants& variants, const std::string& origin,
                   const CudaLibraryTable* library = nullptr);

  // Variants of one operator that a model's framework has, best first: above those that are there,
  // below the tuned ones, or below all. A model asks for them before it has the parameters of a
  // kernel: below tuned ones they get the calls whose type or device those do not take, not those
  // whose strides they do not.
  enum class Place { kFirst, kBelowTuned, kLast };
  void AddFramework(const HostedVariants& variants, Place place);

  // A plug-in's variant, below all others of its operator: "auto" never comes to it.
  // INVALID_ARGUMENT for an operator without variants or of other parameters, ALREADY_EXISTS for a
  // variant that is there.
  absl::Status AddPlugin(std::shared_ptr<const HostedVariant> plugin);

  // Every operator by name, with what runs on the device of this process.
  const std::vector<OpListing>& List() const { return ops_; }
  const DeviceCapability& capability() const { return capability_; }
  // The variants of an operator that its calls can choose, best first, plug-ins' last.
  absl::Span<const CatalogVariant> Variants(std::string_view op) const;
  // The names of an operator's variants, best first; of an unknown operator none.
  std::vector<std::string> VariantNames(std::string_view op) const;

  // A plan from a profile (kernel_profiles.h; empty: "auto") and single variants on top of it.
  // INVALID_ARGUMENT for an unknown name, with the known ones; FAILED_PRECONDITION for a profile or
  // a variant that cannot run here, with the reason and, of variants, those that can.
  absl::StatusOr<KernelPlan> Plan(std::string_view profile,
                                  const std::map<std::string, std::string>& variants) const;

 private:
  DeviceCapability capability_;
  std::vector<OpListing> ops_;
  VariantTable CopyOfTable() const;
  // Lists what `table` has, and hands it to the plans to come.
  void Publish(std::shared_ptr<const VariantTable> table);

  // Replaced by every addition, so that plans made before keep what they chose from.
  std::shared_ptr<const VariantTable> table_;
};

// The same check over a listing alone: for a process that has no kernels, only a worker's list of
// them. `calls` are those of the model, as far as they are known: a variant that does not compute
// in their type is refused likewise.
absl::StatusOr<KernelPlan> MakePlan(const std::vector<OpListing>& ops, std::string_view profile,
                                    const std::map<std::string, std::string>& variants,
                                    const std::vector<KernelCall>& calls = {});

}  // namespace reel::kernels
