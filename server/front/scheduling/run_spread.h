// SPDX-License-Identifier: Apache-2.0
// The spread of whole runs around what was predicted for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reel::front {

// Of the latest runs. Nine of ten quotes hold also where runs change: one that does not hold moves
// those that follow towards the longest run, one that holds a ninth as far back. (The method is
// adaptive conformal inference.)
class RunSpread {
 public:
  static constexpr size_t kKept = 50;
  // Fewer tell nothing of one in ten.
  static constexpr size_t kLeast = 10;

  // What a run took, and what had been quoted for it as its p90, over what was predicted; `quoted`
  // is 0 where nothing was.
  void Add(double ratio, double quoted = 0);
  // What nine of ten runs stay within, over what is predicted; 0: too few were seen.
  double p90() const { return p90_; }

  // For the store; what cannot be read is skipped.
  std::string Serialize() const;
  void Parse(std::string_view text);

 private:
  static constexpr double kWanted = 0.9;

  void Update();

  std::vector<double> ratios_;  // a ring
  size_t next_ = 0;
  double level_ = kWanted;  // the share of the kept runs that a quote covers
  double p90_ = 0;
};

}  // namespace reel::front
