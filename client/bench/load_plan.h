// SPDX-License-Identifier: Apache-2.0
// The due times of a load's requests, and the spec of each. Pure: the same plan, the same load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace reel::client {

struct LoadPlan {
  double rate = 1;      // requests a second
  int count = 1;        // requests
  bool poisson = true;  // as independent callers come; else at even distances
  size_t specs = 1;     // of them one is drawn for each request
  uint64_t seed = 0;
};

struct Arrival {
  absl::Duration due;  // from the beginning
  size_t spec = 0;
};

// In the order of their times.
std::vector<Arrival> ArrivalsOf(const LoadPlan& plan);

}  // namespace reel::client
