// SPDX-License-Identifier: Apache-2.0
// The due times of a load's requests, and the spec of each. A pure function: the same plan gives
// the same load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace reel::client {

struct LoadPlan {
  double rate = 1;      // requests a second
  int count = 1;        // number of requests
  bool poisson = true;  // random gaps, as of independent callers; else even ones
  size_t specs = 1;     // each request draws one of them
  uint64_t seed = 0;
};

struct Arrival {
  absl::Duration due;  // after the load's start
  size_t spec = 0;
};

// Ordered by their times.
std::vector<Arrival> ArrivalsOf(const LoadPlan& plan);

}  // namespace reel::client
