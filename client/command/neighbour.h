// SPDX-License-Identifier: Apache-2.0
// Runs another program of Reel that is beside this one, and returns its output. It is a separate
// program because its libraries load slowly.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::client {

struct NeighbourAnswer {
  int exit_code = 0;        // or minus the number of the signal that ended it
  std::string out, errors;  // its output
};

// NOT_FOUND: `folder` has no program `name`.
absl::StatusOr<NeighbourAnswer> AskNeighbour(const std::string& folder, const std::string& name,
                                             const std::vector<std::string>& arguments);

}  // namespace reel::client
