// SPDX-License-Identifier: Apache-2.0
// Predicts the cost of a job from earlier jobs of its model and kernel plan, on the same kind of
// device. Each shape that was measured has a cell; a curve through the cells predicts others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "model/model_card.h"
#include "model/pass_work.h"
#include "model/run_stats.h"
#include "server/front/scheduling/cost_cells.h"
#include "server/front/scheduling/work_shape.h"

namespace reel::front {

struct Cost {
  struct Pass {
    int steps = 0;
    absl::Duration step, step_p90;  // of each
  };

  absl::Duration text;
  std::vector<Pass> passes;
  absl::Duration previews;  // of all
  absl::Duration decode, decode_p90;
  bool observed = false;  // false: start values, by which nothing may be refused
  double spread = 0;      // nine of ten runs took at most this multiple; 0 if not known

  absl::Duration p50() const { return p50_; }
  absl::Duration p90() const { return p90_; }
  // Remaining time after `steps_done` steps.
  absl::Duration Left(int steps_done) const;
  absl::Duration longest_step_p90() const;
  // Caches the sums once the parts are set: a decision reads them a thousand times.
  void SumUp();

 private:
  absl::Duration p50_, p90_;
};

// Predicted bytes of a video's file.
struct OutputSize {
  int64_t likely = 0;  // 0 if not known yet
  int64_t most = 0;    // with the doubt that there is; unknown: all that its frames could take
};

// A measured step.
struct SeenStep {
  std::string model, plan, where;
  int64_t rows = 0;              // of one job those of its pass, without what conditions add
  int64_t attention = 0;         // rows times the tokens that each attends to, of all jobs in it
  int64_t condition_pixels = 0;  // of one job
  bool shared = false;           // by several jobs
  bool reused = false;           // it, or one of its jobs, reused results of an earlier step
};

// Device work for a job, including the end of its encoding, without waiting for other jobs.
absl::Duration WorkOf(const model::RunStats& stats);

// Confined to one thread.
class CostModel {
 public:
  CostModel() = default;
  CostModel(const CostModel&) = delete;  // cells refer to each other by address
  CostModel& operator=(const CostModel&) = delete;

  Cost Predict(const WorkShape& shape) const;
  // Device memory beside the weights: by earlier jobs of this plan on this kind of device, before
  // that by the card's formula; 0 if nothing is known.
  int64_t PeakMemory(const WorkShape& shape) const;
  // Size of the file, by earlier files; before the first one the most that its frames could take.
  OutputSize Output(const WorkShape& shape) const;

  // Time to load a model on demand. `observed`: whether it was measured rather than guessed by
  // size.
  absl::Duration LoadTime(const WorkShape& shape, int64_t weight_bytes, bool& observed) const;
  void LearnLoad(const std::string& model, const std::string& where, absl::Duration took);
  // Sets how fast a worker there copies weights to its device; 0 if not known.
  void LearnCopies(const std::string& model, const std::string& where, int64_t bytes_per_second);

  void LearnStep(const SeenStep& step, absl::Duration took);
  // `predicted` and `quoted`: the run's p50 and p90 at admission; zero if those were guesses.
  void LearnRun(const WorkShape& shape, const model::RunStats& stats, absl::Duration predicted,
                absl::Duration quoted);
  void LearnOutput(const WorkShape& shape, int64_t bytes);
  // Learns the peak of device memory of a job that was rendered.
  void LearnMemory(const WorkShape& shape, int64_t bytes);
  // Called after an out of memory: the shape needs at least `bytes`.
  void RaiseMemory(const WorkShape& shape, int64_t bytes);

  // For the store. Parse skips unreadable lines: their costs are learned again.
  std::string Serialize() const;
  void Parse(std::string_view text);
  bool TakeChanged();

 private:
  using GroupKey = std::tuple<std::string, std::string, std::string>;  // model, plan, where
  // The cells to use for a kind: the shape's own group, else the most similar one.
  struct Source {
    const CostCells* cells = nullptr;
    bool alike = false;  // on the same kind of device, with the same weights
    bool own = false;    // of this plan
  };

  Source SourceOf(const WorkShape& shape, CostKind kind) const;
  absl::Duration LeastStreamingStep(const WorkShape& shape) const;
  // Returns false if it is a guess.
  bool PredictStep(const WorkShape& shape, const model::PassWork& work, Cost::Pass& pass) const;
  void PredictDecode(const WorkShape& shape, Cost& cost) const;
  static GroupKey OutputGroup(const WorkShape& shape);
  // Replaces the cell that was learned longest ago if there are too many.
  CostCell& CellOf(const GroupKey& group, const CellKey& key);
  void Learn(const GroupKey& group, const CellKey& key, double value);
  void GiveUpOldest();
  void ParseCell(const std::vector<std::string>& parts);

  using Groups = std::map<GroupKey, CostCells, std::less<>>;

  Groups groups_;
  std::map<uint64_t, std::pair<Groups::iterator, CellKey>> by_age_;  // by CostCell::learned
  uint64_t changes_ = 0;
  bool changed_ = false;
};

}  // namespace reel::front
