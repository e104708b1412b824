// SPDX-License-Identifier: Apache-2.0
// A network's modulation for the times of a schedule, computed for many steps at once, since it
// does not depend on latents. Tokens that share a time share its row.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/bridge/aten.h"

namespace reel::model {

constexpr double kTimesteps = 1000;  // a network's time at sigma 1

// N times, embedded.
struct TimeRows {
  at::Tensor embedded;  // [N, D]
  at::Tensor rows;      // [N, R]: what all blocks take

  TimeRows Slice(int64_t first, int64_t count) const {
    return {embedded.slice(0, first, first + count), rows.slice(0, first, first + count)};
  }
};
// What a network makes of `times` [N] fp32 in 0..1000.
using RowsOfTimes = absl::FunctionRef<TimeRows(const at::Tensor& times)>;

// A clip as far as its times go; borrowed for a call.
struct TimedClip {
  const std::vector<float>& timesteps;  // of its schedule
  const at::Tensor& x;                  // where it is
  const at::Tensor& mask;               // [1, S]: how much each token is pinned; undefined: none is
  bool each = false;  // a token is not past what its mask allows; else by so much behind all
};

// The times of one step, and the modulation for each.
struct StepTimes {
  at::Tensor values;    // [K] fp32, in 0..1000: the times of its tokens, each once
  at::Tensor of_token;  // [1, S]: which of them a token has; undefined: K is 1
  TimeRows rows;        // of K times

  // A value for each of K times to one for each token, [1, S] or [1, 1].
  at::Tensor ForTokens(const at::Tensor& by_time) const;
};

// A value of one generation. Made anew when the clip changes, and for the steps that come after
// those that it has: which ones are made together depends on the clip alone.
class TimeTable {
 public:
  static constexpr int64_t kMostTimes = 128;

  StepTimes At(const TimedClip& clip, int step, RowsOfTimes rows_of);

  // On another device, for the same clip there: `mask` is its mask.
  TimeTable To(at::Device where, const at::Tensor& mask) const;

  const TimeRows& rows() const { return rows_; }

 private:
  bool Has(const TimedClip& clip, int step) const;
  void Make(const TimedClip& clip, int step, RowsOfTimes rows_of);

  // What the table was computed for.
  std::vector<float> timesteps_;
  at::Tensor mask_;
  int first_ = 0, end_ = 0;  // steps

  at::Tensor values_;  // [steps, K]
  at::Tensor of_token_;
  TimeRows rows_;  // of steps * K times
};

}  // namespace reel::model
