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

// The jobs of one model and plan that could share a step, the lead first.
struct Sharers {
  std::string_view model, plan;
  absl::Span<const int64_t> rows;                   // of each
  absl::Duration slack = absl::InfiniteDuration();  // until the first of their deadlines
};

// Note: [Sharing]. The gain of a step is the sum of its jobs' solo step times, over the time of the
// step.
// - Without evidence jobs share. The gain of a batch is known after five solo steps of each size
//   and five shared steps after those. Batches count as alike with as many jobs, about as many
//   rows, about the same largest job, and sizes that are all equal or not.
// - The median of the latest five counts: recording a graph makes two steps of a size slow, which
//   does not move it. Steps that say nothing are left out: a job's first one, the first two of a
//   row (step_row.h), one that was timed, interrupted, failed, or reused an earlier result.
// - Below a gain of 1.05 jobs are kept apart. n equal videos that share end together, after n/g
//   solo runs each; one after the other they end after (n+1)/2 in the mean, but each of m waiting
//   behind them waits n(1-1/g) longer. Apart is better below g = 2(n+m)/(n+1+2m): for two below 4/3
//   if nothing waits, and below 1.05 if at most eight wait. A device that is never idle loses the
//   gain: a twentieth at most with 1.05, a quarter with 4/3.
// - Jobs kept apart are tried again after 300 times the time of a shared step, since the load
//   changes: three steps, five at most, a hundredth of the lead's time. If one pays, the history of
//   the batch is forgotten. While a size only steps in batches, its lead makes as many solo steps
//   after each 256. Neither happens if one of the jobs has to end within 300 such steps.
// - Of more than 512 cells the one unused for longest is dropped.
//
// Limit: sizes are told apart by their rows, so two videos of equal rows and different frames share
// a cell.
//
// A value without a clock: callers pass durations.
class SharingGains {
 public:
  static constexpr size_t kWindow = 5;
  static constexpr double kLeastGain = 1.05;
  static constexpr int kTryAfter = 300;   // times what a shared step takes
  static constexpr int kMostTried = 5;    // steps of a retry until one says something
  static constexpr int kLookAfter = 256;  // steps that a lead makes in batches
  static constexpr size_t kMostCells = 512;

  enum class Advice {
    kShare,
    kLose,       // kept apart, because sharing loses
    kLeadAlone,  // a solo step, to measure its time
  };
  // The decision for the next step.
  Advice Judge(const Sharers& sharers) const;

  // A shared step, or a solo one. `tells`: its time says something (see [Sharing]).
  void Stepped(const Sharers& sharers, absl::Duration took, bool tells);
  // Sharing was known to lose, and a step of this time was made without some of the jobs.
  void KeptApart(const Sharers& sharers, absl::Duration took);
  // The name now stands for another model.
  void Forget(std::string_view model);

  // The sum of the solo step times; nullopt if any size has no sample.
  std::optional<absl::Duration> Apart(const Sharers& sharers) const;
  size_t size() const { return cells_.size(); }

 private:
  struct Key {
    std::string model, plan;
    size_t jobs = 1;
    int64_t rows = 0;     // of the solo job; of several: a bucket
    int64_t largest = 0;  // a bucket; 0: all are equal
    auto operator<=>(const Key&) const = default;
  };
  // Seconds for a solo job, gains for a batch.
  struct Cell {
    std::vector<double> latest;  // a ring
    size_t next = 0;
    absl::Duration took;   // the latest step of this batch
    absl::Duration apart;  // since the last retry
    int shared_steps = 0;  // steps that it led since its last solo step
    int tried = 0;         // steps of the retry so far
    uint64_t used = 0;     // last use, counted in uses of all cells

    bool is_known() const { return latest.size() == kWindow; }
    double Median() const;
    void Add(double value);
    // Whether the step was the last one of a retry.
    bool EndsTry(bool tells);
    void Clear() { latest.clear(), next = 0; }
  };

  static Key KeyOf(const Sharers& sharers);
  static Key KeyOfOne(const Sharers& sharers, size_t job);
  const Cell* Find(const Key& key) const;
  // Finds the cell or makes it, in place of the least recently used one.
  Cell& At(const Key& key);

  std::map<Key, Cell> cells_;
  uint64_t uses_ = 0;
};

}  // namespace reel::worker
