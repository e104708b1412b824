// SPDX-License-Identifier: Apache-2.0
// Tells when a run of steps of the same jobs has become steady.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace reel::worker {

class StepRow {
 public:
  // A call returns when the step before it is done, so that the device never pauses between short
  // steps. The first step of a run may therefore include waiting for earlier work, and the second
  // may seem to take no time; from the third on times are right.
  static constexpr int kFirstThatTells = 3;

  // A step of the jobs with these arrival numbers; true: its time is meaningful.
  bool Tells(std::vector<int64_t> arrivals) {
    length_ = arrivals == arrivals_ ? length_ + 1 : 1;
    arrivals_ = std::move(arrivals);
    return length_ >= kFirstThatTells;
  }
  // Other work was done in between.
  void Break() { length_ = 0; }

 private:
  std::vector<int64_t> arrivals_;
  int length_ = 0;
};

}  // namespace reel::worker
