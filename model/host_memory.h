// SPDX-License-Identifier: Apache-2.0
// The host's memory that this process may still take: what the machine has free, and what the
// limits of its control groups leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "model/fit_plan.h"

namespace reel::model {

struct HostMemory {
  int64_t available = 0;
  bool of_container = false;  // a control group's limit leaves less than the machine has

  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

// Page cache counts as free: it makes way. Nullopt: the system does not tell. `root`: of the files
// that tell, for tests.
std::optional<HostMemory> ReadHostMemory(const std::string& root = "");

// RESOURCE_EXHAUSTED with the sum if the plan's weights on the host do not fit. They are
// page-locked, so nothing could make room for them later.
absl::Status CheckHostMemory(const FitPlan& plan, const std::optional<HostMemory>& memory);

}  // namespace reel::model
