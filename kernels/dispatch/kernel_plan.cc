// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/kernel_plan.h"

#include <utility>

#include "kernels/dispatch/kernel_profiles.h"

namespace reel::kernels {

KernelPlan::KernelPlan(std::string profile, std::map<std::string, std::string, std::less<>> choices)
    : profile_(std::move(profile)), choices_(std::move(choices)), name_(profile_) {
  for (const auto& [op, variant] : choices_) name_ += "+" + op + "=" + variant;
}

std::string_view KernelPlan::Choice(std::string_view op) const {
  const auto found = choices_.find(op);
  return found == choices_.end() ? std::string_view() : std::string_view(found->second);
}

KernelPlan KernelPlan::WithoutLoss() const {
  std::map<std::string, std::string, std::less<>> exact = choices_;
  std::erase_if(exact,
                [](const auto& choice) { return IsLossyVariant(choice.first, choice.second); });
  KernelPlan plan("auto", std::move(exact));
  plan.set_table(table_);
  return plan;
}

KernelPlan KernelPlan::WithoutRouting() const {
  KernelPlan plan(std::string(kFp8AllProfile), choices_);
  plan.set_table(table_);
  return plan;
}

}  // namespace reel::kernels
