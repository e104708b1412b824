// SPDX-License-Identifier: Apache-2.0
// A view of a fleet as one word: nodes in other processes compare theirs by it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_fold.h"

namespace reel::tests {

inline std::string FingerprintOf(const front::FleetState& state) {
  std::string text = absl::StrCat(state.position, "\n");
  for (const auto& [key, job] : state.jobs) {
    absl::StrAppend(&text, key.first, "/", key.second, " ", static_cast<int>(job.phase), " ",
                    job.epoch, " ", job.owner, " ", job.requested, " ",
                    job.wish ? static_cast<int>(*job.wish) : -1, "\n");
  }
  return absl::StrCat(std::hash<std::string>{}(text));
}

}  // namespace reel::tests
