// SPDX-License-Identifier: Apache-2.0
// The variants behind a catalog, and the choice of one for a call.
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
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// The process's device, as the choice of a variant needs it.
struct DeviceCapability {
  int device = -1;  // -1: CPU
  int sm = 0;       // major * 10 + minor; 0 on a CPU

  bool ComputesInBf16() const { return device < 0 || sm >= 80; }
};

// A variant and its origin.
struct CatalogVariant {
  KernelVariant variant{};
  std::string origin;
  const CudaLibraryTable* library =
      nullptr;               // names and classifies its errors; null for CPU variants
  uint64_t params_size = 0;  // size of its parameters; 0: the framework's
  // Set for a variant that launches itself; `variant` then has its name and limits.
  std::shared_ptr<const HostedVariant> hosted = nullptr;

  bool is_framework() const { return hosted != nullptr && hosted->facts().params_size == 0; }
  bool is_plugin() const { return hosted != nullptr && !is_framework(); }
};

using HostedVariants = std::vector<std::shared_ptr<const HostedVariant>>;

// Immutable once a catalog and its plans share it.
class VariantTable {
 public:
  explicit VariantTable(DeviceCapability capability) : capability_(capability) {}

  // Below the variants of the same operator that are already there.
  void Add(const OpVariants& op, const std::string& origin, const CudaLibraryTable* library);
  void Add(const HostedVariants& variants);
  // Above them, or only below those that do not take every call; all for one operator, best first.
  void AddFirst(const HostedVariants& variants);
  void AddBelowTuned(const HostedVariants& variants);

  const DeviceCapability& capability() const { return capability_; }
  // By name.
  std::vector<std::string> Ops() const;
  // Best first; empty for an operator without variants here.
  absl::Span<const CatalogVariant> Variants(std::string_view op) const;
  // The same, but empty for a table that was compiled with another layout of the parameters.
  absl::Span<const CatalogVariant> Variants(std::string_view op, uint64_t params_size) const;
  // 0 for an operator that has only the framework's variants.
  uint64_t ParamsSize(std::string_view op) const;

 private:
  void AddAt(size_t place, const HostedVariants& variants);

  struct Op {
    uint64_t params_size = 0;
    std::vector<CatalogVariant> variants;
  };
  DeviceCapability capability_;
  std::map<std::string, Op, std::less<>> ops_;
};

// What the choice of a variant needs to know of a call.
struct VariantQuery {
  std::string_view op = {};
  Dtype dtype = Dtype::kF32;
  // The parameters of kernels and plug-ins. Null while unknown, as when a model asks whether the
  // framework takes the call: then device and type decide.
  const void* params = nullptr;
  // The call of the framework's variants; null in a call that did not come from a model, which they
  // do not take.
  const void* framework_call = nullptr;
  DeviceCapability device = {};
  bool for_plugins = true;  // whether plug-ins know this form of the call
};

bool Fits(const CatalogVariant& candidate, const VariantQuery& query);
// Why it does not fit; empty if it does.
std::string WhyNot(const CatalogVariant& candidate, const VariantQuery& query);

// The variant that the plan forces, or the first that fits; reasons are collected only if none
// does. FAILED_PRECONDITION with the reasons and the names that could run; INVALID_ARGUMENT for an
// unknown forced name.
absl::StatusOr<const CatalogVariant*> ChooseVariant(absl::Span<const CatalogVariant> candidates,
                                                    const VariantQuery& query,
                                                    const KernelPlan& plan);

}  // namespace reel::kernels
