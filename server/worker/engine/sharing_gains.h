// SPDX-License-Identifier: Apache-2.0
// Measures how much jobs gain by sharing a step on this device, and decides how many share one.
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
struct Sharers {
  std::string_view model, plan;
  absl::Span<const int64_t> rows;                   // of each
  absl::Duration slack = absl::InfiniteDuration();  // until the first of their deadlines
  // Others come while these are rendered, so that the device is never idle for long.
  bool more_come = true;

  Sharers First(size_t jobs) const { return {model, plan, rows.first(jobs), slack, more_come}; }
};

// Note: [Sharing]. The gain of a step is the sum of its jobs' solo step times, over the time of the
// step.
// - Of n jobs that could share either all do, or the first half, a quarter, and so on, or only the
//   lead steps. While the gain of all is unknown, all share; of equal jobs the smaller sizes are
//   measured after that, of others only if all lose.
// - While more jobs come, the size with the largest gain is used: throughput decides, and with as
//   many in flight as before it decides how long each takes. Below a gain of 1.05 only the lead
//   steps. Of sizes within 3 % the largest is used.
// - While no others come, the mean of their ends decides. In groups of k one after the other, n
//   equal jobs end after k/gain * (groups + 1)/2 solo runs in the mean; apart after (n + 1)/2.
// - A gain is known after five solo steps of each job's size and five shared steps after those: it
//   is their median, since recording a graph makes two steps of a size slow. Of what is used it
//   follows the median of the latest five by a tenth a step, so that a busy machine does not move
//   it. Steps that say nothing are left out: a job's first and its last one, the first two of a row
//   (step_row.h), one that was timed, interrupted, failed, or reused an earlier result. Batches
//   count as alike with about as many jobs and rows, about the same largest job, and sizes that are
//   all equal or not.
// - What is not used is measured again: three shared steps that say something, eight at most, after
//   8 times the time of a shared step, later if it loses much, and twice as late after each
//   measurement that changes nothing, but never later than 300 times. So no wrong measurement stays
//   for long, and what is measured costs a tenth of the time at first and ever less.
// - A size that only steps in batches is led alone for a step after each 256, and until it is known
//   after each 16. Nothing is measured again if one of the jobs has to end within 300 shared steps.
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
  static constexpr double kAsGood = 0.97;  // of the best
  // Until what is not used is measured again, in shared steps; and its cost beside what is gained.
  static constexpr double kLeastWait = 8, kMostWait = 300, kTrialCost = 0.1;
  static constexpr int kTrialTells = 3;  // steps of a trial that say something
  static constexpr int kMostTried = 8;   // steps of a trial
  // Steps that a lead makes in batches before it is stepped alone, known and not known.
  static constexpr int kLookAfter = 256, kFirstLookAfter = 16;
  static constexpr size_t kMostCells = 512;

  // How many of them, from the first on, share the next step.
  struct Choice {
    size_t jobs = 1;
    bool is_look = false;  // fewer than gain by it, for a measurement
  };
  Choice Choose(const Sharers& all) const;

  // A step was made of these; `tells`: its time says something (see [Sharing]).
  void Stepped(const Sharers& made, absl::Duration took, bool tells);
  // A step of this time was made of the first `jobs` of these.
  void PassedOver(const Sharers& all, size_t jobs, absl::Duration took);
  // The name now stands for another model.
  void Forget(std::string_view model);

  // The sum of the solo step times; nullopt if any size has no sample.
  std::optional<absl::Duration> Apart(const Sharers& sharers) const;
  // nullopt: not known.
  std::optional<double> GainOf(const Sharers& sharers) const;
  size_t size() const { return cells_.size(); }

 private:
  struct Key {
    std::string model, plan;
    int64_t jobs = 0;  // a bucket; 0: a solo job
    int64_t rows = 0;  // of the solo job; of several a bucket: of the largest job
    int64_t sum = 0;   // a bucket: of all rows; 0: all jobs are equal
    auto operator<=>(const Key&) const = default;
  };
  // Seconds for a solo job, gains for a batch.
  struct Cell {
    std::vector<double> latest;  // a ring
    size_t next = 0;
    std::optional<double> known;  // the median, once there were enough
    absl::Duration took;          // the latest step of this batch that said something
    absl::Duration unused;        // time of steps in its place since it was measured last
    int led = 0;                  // steps in batches that a job led since its last solo step
    bool is_on_trial = false;     // measured again
    int tried = 0, told = 0;      // steps of the measurement so far, and those that said something
    int in_vain = 0;              // trials in a row that changed nothing
    uint64_t used = 0;            // last use, counted in uses of all cells

    void Add(double value);
    void AddSolo(double seconds);
    void AddGain(double gain);
    void BeginTrial();
    void EndTrialIfDone();
  };
  // A size that all of them, or so many of them, could share a step with.
  struct Size {
    size_t jobs = 1;
    double cost = 1;  // of choosing it; see [Sharing]
    const Cell* cell = nullptr;
  };

  static Key KeyOf(const Sharers& sharers);
  static Key KeyOfOne(const Sharers& sharers, size_t job);
  const Cell* Find(const Key& key) const;
  // Finds the cell or makes it, in place of the least recently used one.
  Cell& At(const Key& key);
  bool IsLookDue(const Sharers& all) const;
  // The sizes whose gains are known, the largest first.
  std::vector<Size> KnownSizes(const Sharers& all) const;
  // The largest size that is still to be measured; nullopt: none.
  std::optional<size_t> Unmeasured(const Sharers& all, bool all_lose) const;
  static void SteppedAlone(Cell& lead, absl::Duration took, bool tells);

  std::map<Key, Cell> cells_;
  uint64_t uses_ = 0;
};

}  // namespace reel::worker
