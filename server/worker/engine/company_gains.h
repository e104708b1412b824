// SPDX-License-Identifier: Apache-2.0
// Measures how much jobs gain by sharing a step on this device.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace reel::worker {

// Jobs of one model and plan that could share a step, the lead first.
struct Company {
  std::string_view model, plan;
  absl::Span<const int64_t> rows;                   // of each
  absl::Duration slack = absl::InfiniteDuration();  // until the first of their deadlines
};

// Note: [Sharing]. The gain of a step is what its jobs would take each by itself, over what the
// step takes.
// - Without evidence they share. A gain is known of a size by five steps that a job of it made
//   alone, and of a company by five that it shared after that: as many jobs, of about as many rows
//   together, the largest about as large, all equal or not. So what was not seen together is
//   taken for what was most like it, or tried.
// - Of each the median of the latest five counts: recording a graph makes two steps of a size slow,
//   and neither moves a median of five. What is known to tell nothing is not counted: a job's first
//   step, the first two of a row (step_row.h), a step that was timed, interrupted, failed, or took
//   over an earlier one's result.
// - Below a gain of 1.05 they are kept apart. n equal videos that share end together, after n/g
//   runs each; one after the other after (n+1)/2 in the mean, but each of m that wait behind them
//   waits n(1-1/g) longer. Together they are better off apart below g = 2(n+m)/(n+1+2m): two of
//   them below 4/3 if nobody waits, and below 1.05 while no more than eight do. A device that is
//   never idle loses the gain: with 1.05 that is a twentieth at most, with 4/3 a quarter.
// - Kept apart they are tried again, for a device may get other company: after 300 times
//   its time was spent apart, by as many steps as it takes until one tells: three, which cost the
//   lead a hundredth, and five at most. If that one pays, all that was known of the company is
//   forgotten. And while a size is stepped in company alone, a lead of it makes as many by itself
//   after each 256. Neither is done when one of the jobs has to end within 300 such steps.
// - Of more than 512 cells the one that no step was of for longest is forgotten.
//
// Limit: a size is told by its rows, so that two videos of equal rows and other numbers of frames
// have one cell.
//
// A value without a clock; durations are given.
class CompanyGains {
 public:
  static constexpr size_t kWindow = 5;
  static constexpr double kLeastGain = 1.05;
  static constexpr int kTryAfter = 300;   // times what a shared step takes
  static constexpr int kMostTried = 5;    // steps until one tells
  static constexpr int kLookAfter = 256;  // steps of a lead in company
  static constexpr size_t kMostCells = 512;

  enum class Advice {
    kShare,
    kLose,       // kept apart, since they lose by it
    kLeadAlone,  // so that it is seen what a step of it takes
  };
  // For the next step.
  Advice Judge(const Company& company) const;

  // A step of them all, or of the one. `tells`: it took what such a step takes.
  void Stepped(const Company& company, absl::Duration took, bool tells);
  // They were told to lose, and a step that took so long was made without some of them.
  void KeptApart(const Company& company, absl::Duration took);
  // Another model has come by this name.
  void Forget(std::string_view model);

  // What they take, each by itself; nullopt: that is not known of all sizes.
  std::optional<absl::Duration> Apart(const Company& company) const;
  size_t size() const { return cells_.size(); }

 private:
  struct Key {
    std::string model, plan;
    size_t jobs = 1;
    int64_t rows = 0;     // of one job; of several a bucket
    int64_t largest = 0;  // a bucket; 0: all are equal
    auto operator<=>(const Key&) const = default;
  };
  // Of a job alone seconds, of a company gains.
  struct Cell {
    std::vector<double> latest;  // a ring
    size_t next = 0;
    absl::Duration took;   // the latest step of the company
    absl::Duration apart;  // since it was tried last
    int in_company = 0;    // steps that it led since one alone
    int tried = 0;         // steps of a try, so far
    uint64_t used = 0;     // when, counted in uses of all cells

    bool is_known() const { return latest.size() == kWindow; }
    double Median() const;
    void Add(double value);
    // Whether a step was the last one of a try.
    bool EndsTry(bool tells);
    void Clear() { latest.clear(), next = 0; }
  };

  static Key KeyOf(const Company& company);
  static Key KeyOfOne(const Company& company, size_t job);
  const Cell* Find(const Key& key) const;
  // Made where there is none, in place of the one that was used longest ago.
  Cell& At(const Key& key);

  std::map<Key, Cell> cells_;
  uint64_t uses_ = 0;
};

}  // namespace reel::worker
