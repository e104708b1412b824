// SPDX-License-Identifier: Apache-2.0
// The A/B switch: which variant of each operator a request runs. A value, made per request, never
// changed after.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace reel::kernels {

class RowTable;

class KernelPlan {
 public:
  // The profile "auto": the first row that fits, for every operator.
  KernelPlan() : profile_("auto") {}
  // Made by KernelCatalog::Plan, which checks the names.
  KernelPlan(std::string profile, std::map<std::string, std::string, std::less<>> choices);

  // Equal names mean equal plans: "auto", "auto+rms_norm=generic".
  const std::string& name() const { return name_; }
  const std::string& profile() const { return profile_; }
  // The variant forced for `op`; empty: the profile's choice.
  std::string_view Choice(std::string_view op) const;

  // The rows to choose from. Null, as in a plan that no catalog made: an operator's own CPU rows.
  const RowTable* rows() const { return rows_.get(); }
  void set_rows(std::shared_ptr<const RowTable> rows) { rows_ = std::move(rows); }

 private:
  std::string profile_;
  std::map<std::string, std::string, std::less<>> choices_;
  std::string name_ = "auto";
  // Shared: a plan may outlive the catalog that made it.
  std::shared_ptr<const RowTable> rows_;
};

}  // namespace reel::kernels
