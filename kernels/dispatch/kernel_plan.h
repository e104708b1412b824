// SPDX-License-Identifier: Apache-2.0
// The variant of each operator that a request runs. A value, made per request and then constant.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace reel::kernels {

class VariantTable;

class KernelPlan {
 public:
  // The profile "auto": the first variant that fits, for every operator.
  KernelPlan() : profile_("auto") {}
  // Made by KernelCatalog::Plan, which checks the names.
  KernelPlan(std::string profile, std::map<std::string, std::string, std::less<>> choices);

  // Equal names mean equal plans: "auto", "auto+rms_norm=generic".
  const std::string& name() const { return name_; }
  const std::string& profile() const { return profile_; }
  // The variant forced for `op`; empty: the profile decides.
  std::string_view Choice(std::string_view op) const;
  // "auto" with those choices of this plan that are not lossy.
  KernelPlan WithoutLoss() const;
  // Of "routed": "fp8_all" with the same choices.
  KernelPlan WithoutRouting() const;

  // The variants to choose from. Null, in a plan made without a catalog: an operator's own CPU
  // variants.
  const VariantTable* table() const { return table_.get(); }
  void set_table(std::shared_ptr<const VariantTable> table) { table_ = std::move(table); }

 private:
  std::string profile_;
  std::map<std::string, std::string, std::less<>> choices_;
  std::string name_ = "auto";
  // Shared: a plan may outlive the catalog that made it.
  std::shared_ptr<const VariantTable> table_;
};

}  // namespace reel::kernels
