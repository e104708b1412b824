// SPDX-License-Identifier: Apache-2.0
// The engine's decisions of who shares a step, on a simulated device and without a clock.
#pragma once

#include <cstdint>

#include "tests/bench/engine/simulated_device.h"

namespace reel::worker {

// A server that is asked for `in_flight` videos at a time. Before that it has rendered some one by
// one, two and four at a time, as a server has that becomes busy.
struct SimulatedLoad {
  int in_flight = 8;
  int fixed = 0;  // jobs of a step; 0: the engine decides
  uint64_t seed = 0;
  int settled = 1;  // videos before the time counts, beside each in flight
};

struct SimulatedResult {
  double videos_a_second = 0;
  double mean_batch = 0;
};

SimulatedResult Simulate(const CostShape& shape, const SimulatedLoad& load);

// The most that a fixed batch of a power of two up to `in_flight` makes.
double BestFixed(const CostShape& shape, int in_flight);

}  // namespace reel::worker
