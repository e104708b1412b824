// SPDX-License-Identifier: Apache-2.0
// How far whole runs lie from what was predicted for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reel::front {

// The spread of whole runs around their predictions, over the latest runs.
class RunSpread {
 public:
  static constexpr size_t kKept = 100;
  // Fewer tell nothing of one in ten.
  static constexpr size_t kLeast = 10;

  // What a run took over what was predicted.
  void Add(double ratio);
  // What nine of ten runs stayed within, over what is predicted; 0: too few were seen.
  double p90() const { return p90_; }

  // For the store; what cannot be read is skipped.
  std::string Serialize() const;
  void Parse(std::string_view text);

 private:
  std::vector<double> ratios_;  // a ring
  size_t next_ = 0;
  double p90_ = 0;
};

}  // namespace reel::front
