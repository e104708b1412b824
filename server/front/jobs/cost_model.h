// SPDX-License-Identifier: Apache-2.0
// Predicts the cost of a job from the costs of earlier jobs. The time of a step depends almost only
// on its rows, so one cell per (model, plan, row bucket) learns it; text and decode have their own.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/model_card.h"
#include "model/pass_work.h"
#include "model/run_stats.h"
#include "server/front/jobs/tenant_bytes.h"

namespace reel::front {

// The part of a resolved spec that costs depend on.
struct WorkShape {
  std::string model;
  std::string plan;
  std::vector<model::PassWork> passes;  // none: not known yet
  int frames = 0;
  int64_t frame_pixels = 0;  // of the whole clip, as it is decoded
  int crf = 0;               // how finely it is encoded
  bool weights = false;      // false: a model without weights, which has no slow first step

  int64_t tokens() const;  // of the pass with the most
  int64_t rows() const;    // of a step, of the pass with the most
  int steps() const;       // of all passes
};

WorkShape ShapeOf(const model::GenerationSpec& resolved, const model::ModelCard& card,
                  const std::string& plan);

struct Cost {
  struct Pass {
    int steps = 0;
    absl::Duration step, step_p90;  // of each
  };

  absl::Duration text;
  std::vector<Pass> passes;
  absl::Duration decode, decode_p90;
  bool observed = false;  // false: start values, which nobody should be refused for

  absl::Duration p50() const;
  absl::Duration p90() const;
  // After so many steps.
  absl::Duration Left(int steps_done) const;
  absl::Duration longest_step_p90() const;
};

// Confined to one thread.
class CostModel {
 public:
  Cost Predict(const WorkShape& shape) const;
  // Highest use seen for a shape like this; 0: none seen.
  int64_t PeakMemory(const WorkShape& shape) const;
  // Of the file, by those that were made; without one the most that its frames could take.
  OutputSize Output(const WorkShape& shape) const;

  void LearnStep(const std::string& model, const std::string& plan, int64_t rows,
                 absl::Duration took);
  void LearnRun(const WorkShape& shape, const model::RunStats& stats);
  void LearnOutput(const WorkShape& shape, int64_t bytes);

  // For the store. Lines that cannot be read are skipped: they are learned again.
  std::string Serialize() const;
  void Parse(std::string_view text);
  bool TakeChanged();

 private:
  enum class Kind { kStep = 0, kText = 1, kDecode = 2, kMemory = 3, kOutput = 4 };
  struct Key {
    std::string model, plan;
    Kind kind = Kind::kStep;
    int bucket = 0;
    auto operator<=>(const Key&) const = default;
  };
  static Key OutputKey(const WorkShape& shape);
  // Seconds; bytes in cells of memory and output.
  struct Cell {
    double mean = 0;
    double deviation = 0;  // mean absolute
    int64_t count = 0;
    int outliers = 0;  // in a row
    double p90() const;
  };

  // False: a guess.
  bool PredictStep(const WorkShape& shape, int64_t rows, Cost::Pass& pass) const;
  void Learn(const Key& key, double value);
  // The nearest cell of the same model, the same plan's first; null: none.
  const Cell* Nearest(const Key& key, int& bucket) const;

  std::map<Key, Cell> cells_;
  bool changed_ = false;
};

}  // namespace reel::front
