// SPDX-License-Identifier: Apache-2.0
#include "client/bench/load_plan.h"

#include <cmath>
#include <random>

namespace reel::client {

std::vector<Arrival> ArrivalsOf(const LoadPlan& plan) {
  // The standard's distributions differ between libraries; its generators do not.
  std::mt19937_64 random(plan.seed);
  const auto unit = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Arrival> arrivals;
  double at = 0;
  for (int i = 0; i < plan.count; ++i) {
    arrivals.push_back({absl::Seconds(at), static_cast<size_t>(random() % plan.specs)});
    at += plan.poisson ? -std::log1p(-unit()) / plan.rate : 1 / plan.rate;
  }
  return arrivals;
}

}  // namespace reel::client
