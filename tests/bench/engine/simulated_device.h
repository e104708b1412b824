// SPDX-License-Identifier: Apache-2.0
// A device of a simulation: how long steps and pieces take on it, with noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace reel::worker {

// What steps cost on a device. The gain of a step is what its jobs take each by itself, over what
// they take together.
struct CostShape {
  std::string name;
  double alone_ms = 10;                            // a step of one job
  std::vector<std::pair<int, double>> gains = {};  // of so many jobs; between them by log2
  double slow_part = 0;  // of the time the host is busy, and steps take 10 to 30 % longer
  // At first, for so many steps, a step of several takes longer by this factor.
  double first_factor = 1;
  int first_steps = 0;

  double Gain(int jobs) const;
  double StepMs(int jobs) const { return jobs * alone_ms / Gain(jobs); }
};

// The shapes that the tests and the table are of.
const std::vector<CostShape>& CostShapes();

class SimulatedDevice {
 public:
  SimulatedDevice(const CostShape& shape, uint64_t seed) : shape_(shape), random_(seed) {}

  // How long a step of these jobs keeps the device that begins then.
  absl::Duration Step(int jobs, absl::Time begin);
  // The same of a text, a preview or some frames.
  absl::Duration Piece(double milliseconds, absl::Time begin);

 private:
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random_);
  }
  // What the machine makes of any piece.
  double Noise(absl::Time begin);
  // Whether the graph for so many jobs is there; recorded at the second step.
  bool IsRecorded(int jobs);

  const CostShape shape_;
  std::mt19937_64 random_;
  double busy_factor_ = 1;
  absl::Time busy_until_ = absl::InfinitePast();
  int shared_ = 0;  // steps so far
  // Steps of each kind since its graph was dropped, the latest first.
  std::deque<std::pair<int, int>> graphs_;
};

}  // namespace reel::worker
