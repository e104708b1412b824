// SPDX-License-Identifier: Apache-2.0
// All variants of all operators in this process: built-in CPU variants, those of the CUDA library,
// and plug-ins'. Built once in main, then read-only.
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
  // For this process's device.
  explicit KernelCatalog(DeviceCapability capability) : capability_(capability) {}

  // Adds variants of one operator. `library` owns their code (null: this program) and stays loaded.
  void AddVariants(const OpVariants& variants, const std::string& origin,
                   const CudaLibraryTable* library = nullptr);

  // Adds the framework's variants of one operator, best first: above those already there, below the
  // tuned ones, or below all. A model chooses before it has a kernel's parameters. So variants
  // below tuned ones get the calls whose type or device those refuse, but not the calls whose
  // strides they refuse.
  enum class Place { kFirst, kBelowTuned, kLast };
  void AddFramework(const HostedVariants& variants, Place place);

  // Adds a plug-in's variant below all others of its operator: "auto" never selects it.
  // INVALID_ARGUMENT for an operator without variants or with other parameters, ALREADY_EXISTS for
  // a name in use.
  absl::Status AddPlugin(std::shared_ptr<const HostedVariant> plugin);

  // Every operator by name, with what runs on this process's device.
  const std::vector<OpListing>& List() const { return ops_; }
  const DeviceCapability& capability() const { return capability_; }
  // The variants of an operator, best first, plug-ins' last.
  absl::Span<const CatalogVariant> Variants(std::string_view op) const;
  // The names of an operator's variants, best first; empty for an unknown operator.
  std::vector<std::string> VariantNames(std::string_view op) const;

  // Makes a plan from a profile (kernel_profiles.h; empty: "auto") and single variants over it.
  // INVALID_ARGUMENT for an unknown name, with the known ones; FAILED_PRECONDITION for a profile or
  // a variant that cannot run here, with the reason and, for variants, those that can.
  absl::StatusOr<KernelPlan> Plan(std::string_view profile,
                                  const std::map<std::string, std::string>& variants) const;

 private:
  DeviceCapability capability_;
  std::vector<OpListing> ops_;
  VariantTable CopyOfTable() const;
  // Lists `table`, and gives it to later plans.
  void Publish(std::shared_ptr<const VariantTable> table);

  // Replaced by every addition, so that earlier plans keep the table that they chose from.
  std::shared_ptr<const VariantTable> table_;
};

// The same check over a listing alone, for a process without kernels. `calls` are the model's, as
// far as they are known: a variant that does not compute in their type is refused too.
absl::StatusOr<KernelPlan> MakePlan(const std::vector<OpListing>& ops, std::string_view profile,
                                    const std::map<std::string, std::string>& variants,
                                    const std::vector<KernelCall>& calls = {});

}  // namespace reel::kernels
