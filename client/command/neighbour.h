// SPDX-License-Identifier: Apache-2.0
// Another program of Reel that lies beside this one, asked and heard to its end. What it is linked
// to takes longer to load than this program may take for its first word.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::client {

struct NeighbourAnswer {
  int exit_code = 0;        // of a signal that ended it: minus its number
  std::string out, errors;  // what it wrote
};

// NOT_FOUND: there is none called `name` in `folder`.
absl::StatusOr<NeighbourAnswer> AskNeighbour(const std::string& folder, const std::string& name,
                                             const std::vector<std::string>& arguments);

}  // namespace reel::client
