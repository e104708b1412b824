// SPDX-License-Identifier: Apache-2.0
// Predicts the cost of a job from the costs of earlier jobs of its model and kernel plan, on
// devices like its own. A cell learns each shape that was seen; of others a curve through the cells
// tells.
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
  bool observed = false;  // false: start values, which nobody should be refused for
  double spread = 0;  // nine of ten runs took so many times what was predicted; 0: not known yet

  absl::Duration p50() const { return p50_; }
  absl::Duration p90() const { return p90_; }
  // After so many steps.
  absl::Duration Left(int steps_done) const;
  absl::Duration longest_step_p90() const;
  // Once its parts are known: they are asked for a thousand times in a decision.
  void SumUp();

 private:
  absl::Duration p50_, p90_;
};

// Bytes that a video is thought to need before it has run.
struct OutputSize {
  int64_t likely = 0;  // 0: nobody knows yet
  int64_t most = 0;    // with the doubt that there is; unknown: all that its frames could take
};

// A step of a device, as far as its cost goes.
struct SeenStep {
  std::string model, plan, where;
  int64_t rows = 0;              // of one job those of its pass, without what conditions add
  int64_t attention = 0;         // rows times the tokens that each attends to, of all jobs in it
  int64_t condition_pixels = 0;  // of one job
  bool shared = false;           // by several jobs
  bool reused = false;  // it took over what an earlier one computed, or one of its jobs did
};

// Work of the device for a job, the end of its encoding included; waiting for others left out.
absl::Duration WorkOf(const model::RunStats& stats);

// Confined to one thread.
class CostModel {
 public:
  CostModel() = default;
  CostModel(const CostModel&) = delete;  // cells know each other by their places
  CostModel& operator=(const CostModel&) = delete;

  Cost Predict(const WorkShape& shape) const;
  // Of a device, beside the weights: by jobs that were seen, of this plan on its kind of device,
  // and by the card's formula before; 0: nothing is known.
  int64_t PeakMemory(const WorkShape& shape) const;
  // Of the file, by those that were made; without one the most that its frames could take.
  OutputSize Output(const WorkShape& shape) const;

  // Until a model serves that is loaded on demand; `observed`: not only a guess by its size.
  absl::Duration LoadTime(const WorkShape& shape, int64_t weight_bytes, bool& observed) const;
  void LearnLoad(const std::string& model, const std::string& where, absl::Duration took);
  // How fast a worker there copies weights; 0: it does not know.
  void LearnCopies(const std::string& model, const std::string& where, int64_t bytes_per_second);

  void LearnStep(const SeenStep& step, absl::Duration took);
  // `predicted` and `quoted`: its p50 and p90 at admission; zero where those were only guesses.
  void LearnRun(const WorkShape& shape, const model::RunStats& stats, absl::Duration predicted,
                absl::Duration quoted);
  void LearnOutput(const WorkShape& shape, int64_t bytes);
  // Of a job that was rendered: most of the device's memory that was its own.
  void LearnMemory(const WorkShape& shape, int64_t bytes);
  // It ran out of memory, and needs at least so much.
  void RaiseMemory(const WorkShape& shape, int64_t bytes);

  // For the store. Lines that cannot be read are skipped: they are learned again.
  std::string Serialize() const;
  void Parse(std::string_view text);
  bool TakeChanged();

 private:
  using GroupKey = std::tuple<std::string, std::string, std::string>;  // model, plan, where
  // Where to look for cells of a kind: the shape's own group, else the one most like it.
  struct Source {
    const CostCells* cells = nullptr;
    bool alike = false;  // on the same kind of device, with the same weights
    bool own = false;    // of this plan
  };

  Source SourceOf(const WorkShape& shape, CostKind kind) const;
  absl::Duration LeastStreamingStep(const WorkShape& shape) const;
  // False: a guess.
  bool PredictStep(const WorkShape& shape, const model::PassWork& work, Cost::Pass& pass) const;
  void PredictDecode(const WorkShape& shape, Cost& cost) const;
  static GroupKey OutputGroup(const WorkShape& shape);
  // Where there is no room it takes the place of the cell that was learned longest ago.
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
