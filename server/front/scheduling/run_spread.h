// SPDX-License-Identifier: Apache-2.0
// The spread of whole runs around what was predicted for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reel::front {

// Spread of the latest runs, by adaptive conformal inference: nine of ten quotes hold even if runs
// change. A quote that fails moves the following ones towards the longest run; one that holds moves
// them back a ninth as far.
class RunSpread {
 public:
  static constexpr size_t kKept = 50;
  // Fewer runs cannot show one in ten.
  static constexpr size_t kLeast = 10;

  // Adds a run: what it took, and its quoted p90, both divided by the prediction. `quoted` is 0 if
  // there was no quote.
  void Add(double ratio, double quoted = 0);
  // The multiple of the prediction that nine of ten runs stay within; 0 before enough runs.
  double p90() const { return p90_; }

  // For the store; Parse skips what it cannot read.
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
