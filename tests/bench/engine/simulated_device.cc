// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/simulated_device.h"

#include <algorithm>
#include <cmath>

namespace reel::worker {
namespace {

// Graphs of as many jobs together are kept, as those of LTX in 1 GiB.
constexpr int kMostInGraphs = 17;
constexpr double kUnrecordedMs = 12;  // a step's launches, or recording them

}  // namespace

double CostShape::Gain(int jobs) const {
  std::pair<int, double> below = {1, 1.0};
  for (const auto& known : gains) {
    if (known.first >= jobs) {
      if (known.first == below.first) return known.second;
      const double part = std::log2(static_cast<double>(jobs) / below.first) /
                          std::log2(static_cast<double>(known.first) / below.first);
      return below.second + part * (known.second - below.second);
    }
    below = known;
  }
  return below.second;
}

const std::vector<CostShape>& CostShapes() {
  static const auto* const shapes = new std::vector<CostShape>{
      {"gains", 3.9, {{2, 1.40}, {4, 1.55}, {8, 1.66}, {16, 1.70}}, 0.2},
      {"gains late", 3.2, {{2, 1.06}, {4, 1.45}, {8, 1.75}, {16, 1.85}}, 0.3},
      {"gains much", 3.0, {{2, 1.55}, {4, 1.90}, {8, 2.10}, {16, 2.20}}, 0.3},
      {"two lose, eight gain", 3.2, {{2, 0.92}, {4, 1.05}, {8, 1.60}, {16, 1.70}}, 0.3},
      {"best of four", 6.0, {{2, 1.25}, {4, 1.50}, {8, 1.20}, {16, 1.00}}, 0.2},
      {"best of two", 12.0, {{2, 1.20}, {4, 1.05}, {8, 0.95}, {16, 0.90}}, 0.2},
      {"equal", 12.0, {{2, 1.00}, {16, 1.00}}, 0.2},
      {"loses", 12.0, {{2, 0.92}, {16, 0.90}}, 0.2},
      {"slow at first", 3.2, {{2, 1.20}, {4, 1.50}, {8, 1.75}, {16, 1.85}}, 0.3, 2.5, 60},
      {"good at first", 6.0, {{2, 0.90}, {16, 0.90}}, 0.2, 0.6, 60},
  };
  return *shapes;
}

double SimulatedDevice::Noise(absl::Time begin) {
  if (begin >= busy_until_) {
    busy_until_ = begin + absl::Milliseconds(Uniform(10, 100));
    busy_factor_ = Uniform(0, 1) < shape_.slow_part ? Uniform(1.1, 1.3) : 1;
  }
  const double hiccup = Uniform(0, 1) < 0.005 ? Uniform(2, 6) : 1;
  return busy_factor_ * hiccup * Uniform(0.98, 1.04);
}

bool SimulatedDevice::IsRecorded(int jobs) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const auto& graph) { return graph.first == jobs; });
  std::pair<int, int> graph = {jobs, 0};
  if (found != graphs_.end()) {
    graph = *found;
    graphs_.erase(found);
  }
  const bool recorded = ++graph.second > 2;
  graphs_.push_front(graph);
  int sum = 0;
  for (size_t i = 0; i < graphs_.size(); ++i) {
    sum += graphs_[i].first;
    if (sum > kMostInGraphs && i > 0) graphs_.resize(i);
  }
  return recorded;
}

absl::Duration SimulatedDevice::Step(int jobs, absl::Time begin) {
  double milliseconds = shape_.StepMs(jobs) * Noise(begin);
  if (jobs > 1 && shared_++ < shape_.first_steps) milliseconds *= shape_.first_factor;
  if (!IsRecorded(jobs)) milliseconds = std::max(milliseconds, kUnrecordedMs);
  return absl::Milliseconds(milliseconds);
}

absl::Duration SimulatedDevice::Piece(double milliseconds, absl::Time begin) {
  return absl::Milliseconds(milliseconds * Noise(begin));
}

}  // namespace reel::worker
