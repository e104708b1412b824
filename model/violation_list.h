// SPDX-License-Identifier: Apache-2.0
// Collects what a request breaks, in one wording: value, rule, nearest legal value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/resolve.h"

namespace reel::model {

class ViolationList {
 public:
  void Add(std::string field, std::string description, std::string reason = {});
  // Gives those that were added from number `first` on a reason, unless they have one.
  void Explain(size_t first, const std::string& reason);
  size_t size() const { return violations_.size(); }

  // Each returns whether the value obeys. Bounds are inclusive; NaN obeys no range.
  bool InRange(std::string_view field, int64_t value, int64_t low, int64_t high);
  bool InRange(std::string_view field, double value, double low, double high);
  // value = k * multiple + offset for some k, and within the bounds.
  struct Grid {
    int64_t multiple = 1, offset = 0;
    int64_t low = 1, high = 1;
  };
  bool OnGrid(std::string_view field, int64_t value, const Grid& grid);

  std::vector<FieldViolation> Take() { return std::move(violations_); }

 private:
  std::vector<FieldViolation> violations_;
};

}  // namespace reel::model
