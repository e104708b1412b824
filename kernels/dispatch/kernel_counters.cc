// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/kernel_counters.h"

namespace reel::kernels {

void KernelCounters::Count(std::string_view op, std::string_view variant, int64_t calls) {
  auto by_op = calls_.find(op);
  if (by_op == calls_.end()) by_op = calls_.try_emplace(std::string(op)).first;
  auto by_variant = by_op->second.find(variant);
  if (by_variant == by_op->second.end()) {
    by_variant = by_op->second.try_emplace(std::string(variant)).first;
  }
  by_variant->second += calls;
}

std::vector<VariantUse> KernelCounters::Uses() const {
  std::vector<VariantUse> uses;
  for (const auto& [op, variants] : calls_) {
    for (const auto& [variant, calls] : variants) uses.push_back({op, variant, calls});
  }
  return uses;
}

}  // namespace reel::kernels
