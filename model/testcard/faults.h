// SPDX-License-Identifier: Apache-2.0
// Decides which steps of a test card fail, and how often.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/registry.h"

namespace reel::model {

enum class FaultKind { kNone, kHang, kExit, kNan, kOom, kSticky, kLost };

class FaultTable {
 public:
  // INVALID_ARGUMENT for an unknown kind or nonsensical counts.
  static absl::Status Check(const std::vector<TestCardFault>& faults);
  // `faults` must have been checked.
  explicit FaultTable(const std::vector<TestCardFault>& faults);

  // The fault of a job with this prompt at this step; counts it as having happened.
  FaultKind Next(std::string_view prompt, int step);

 private:
  struct Row {
    FaultKind kind;
    TestCardFault fault;
    int happened = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace reel::model
