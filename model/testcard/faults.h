// SPDX-License-Identifier: Apache-2.0
// The faults of a test card: the step that fails, and how many times.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/registry.h"

namespace reel::model {

enum class FaultKind { kNone, kHang, kExit, kNan, kOom, kSticky, kLost };

class FaultTable {
 public:
  // INVALID_ARGUMENT for a kind that does not exist or counts that make no sense.
  static absl::Status Check(const std::vector<TestCardFault>& faults);
  // `faults` have been checked.
  explicit FaultTable(const std::vector<TestCardFault>& faults);

  // What happens to a job with this prompt at this step; it is counted as having happened.
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
