// SPDX-License-Identifier: Apache-2.0
// Counts calls by operator and variant, always: the proof of what ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_listing.h"

namespace reel::kernels {

// Used by the executing thread alone.
class KernelCounters {
 public:
  void Count(std::string_view op, std::string_view variant, int64_t calls = 1);
  std::vector<VariantUse> Uses() const;

 private:
  std::map<std::string, std::map<std::string, int64_t, std::less<>>, std::less<>> calls_;
};

}  // namespace reel::kernels
