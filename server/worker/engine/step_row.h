// SPDX-License-Identifier: Apache-2.0
// Steps of the same jobs, one after the other with nothing between them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace reel::worker {

class StepRow {
 public:
  // A device goes from one short step to the next of the same jobs without a stop: a call returns
  // when the step before it is done. So the first of a row may have taken a rest of what was
  // before, and the second as good as nothing; from the third on each takes what a step takes.
  static constexpr int kFirstThatTells = 3;

  // A step of the jobs that came as these; true: how long it took tells.
  bool Tells(std::vector<int64_t> arrivals) {
    length_ = arrivals == arrivals_ ? length_ + 1 : 1;
    arrivals_ = std::move(arrivals);
    return length_ >= kFirstThatTells;
  }
  // Another piece of work was done.
  void Break() { length_ = 0; }

 private:
  std::vector<int64_t> arrivals_;
  int length_ = 0;
};

}  // namespace reel::worker
