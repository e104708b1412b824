// SPDX-License-Identifier: Apache-2.0
// Every row of every operator that this process has: built-in CPU rows, those of the CUDA library,
// of plug-ins. Built once in main, then read only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_listing.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::kernels {

class KernelCatalog {
 public:
  // Rows of one operator, best first, below those that were added before.
  void Add(OpListing op);

  // Every operator by name, with what runs on the device of this process.
  const std::vector<OpListing>& List() const { return ops_; }

  // A plan from a profile ("auto", "reference", "batch_invariant"; empty: "auto") and single
  // variants on top of it. INVALID_ARGUMENT for an unknown name, with the known ones;
  // FAILED_PRECONDITION for a variant that cannot run here, with the reason and those that can.
  absl::StatusOr<KernelPlan> Plan(std::string_view profile,
                                  const std::map<std::string, std::string>& variants) const;

 private:
  std::vector<OpListing> ops_;
};

// The same check over a listing alone: for a process that has no kernels, only a worker's list of
// them.
absl::StatusOr<KernelPlan> MakePlan(const std::vector<OpListing>& ops, std::string_view profile,
                                    const std::map<std::string, std::string>& variants);

// "auto", "reference", "batch_invariant".
const std::vector<std::string>& BuiltInProfiles();

}  // namespace reel::kernels
