// SPDX-License-Identifier: Apache-2.0
// A job as the engine holds it, and all of them in their order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/pipeline.h"
#include "model/run_clock.h"
#include "model/run_stats.h"
#include "server/worker/engine/engine.h"
#include "server/worker/engine/file_end.h"
#include "server/worker/engine/job_tally.h"
#include "server/worker/media/condition_decoder.h"
#include "server/worker/media/video_encoder.h"

namespace reel::worker {

// Which piece comes next. The order is that of a run.
enum class Phase { kCreate, kBegin, kDenoise, kDecode, kEncode };

struct HeldJob {
  JobRef ref;
  model::GenerationSpec spec;
  model::Pipeline* pipeline = nullptr;  // its model stays loaded while it is used
  kernels::KernelPlan plan;
  double order_key = 0;
  int64_t arrival = 0;       // between equal keys
  int64_t planned_rows = 0;  // rows of its first step, without conditions
  absl::Time deadline;       // steady
  Phase phase = Phase::kCreate;
  bool alone = false;
  bool assigned_alone = false;  // set by the front: no other job is on this worker
  bool steps_alone = false;     // its model's jobs never share steps
  bool parked = false;
  bool in_step = false;  // the spec of the pass under way
  bool preview_due = false;
  bool times_text = false, times_decode = false;  // as SampleRule took them
  bool ran_out_of_memory = false;                 // once: the next try is alone and the last
  std::unique_ptr<ConditionDecoder> conditions;   // until the job is created; null: it has none
  std::optional<model::PassState> made;           // that it begins from, until it is created
  std::unique_ptr<model::Generation> generation;
  std::optional<FileBegin> begin;     // of its file, that is another's; nullopt: none
  StateWriter state;                  // of what it leaves, from its decode on; null: nothing
  std::shared_ptr<FileEnd> file_end;  // from the first frames on; shared with the encoder's thread
  std::unique_ptr<VideoEncoder> encoder;
  bool told_decoding = false;  // its owner knows that all steps are made
  model::TextFacts texts;      // once it can step
  JobTally tally;
  model::RunClock clock;
  absl::Duration last_step;  // zero before the first

  // False: it waits for its conditions, its encoder or its owner, or is in the middle of a step.
  bool CanMove() const;
  // Its next piece is a step.
  bool CanStep() const { return CanMove() && phase == Phase::kDenoise && !preview_due; }
  bool GoesBefore(const HeldJob& other) const {
    return std::pair(order_key, arrival) < std::pair(other.order_key, other.arrival);
  }
  bool has_steps_left() const {
    return generation != nullptr && generation->step() < generation->num_steps();
  }
  // After a step or a piece of frames: decodes next if it has frames, but makes steps first while
  // its encoder has no room.
  void ChoosePhase();
  // Stage of the decode's next piece: sound or frames. Requires an encoder.
  model::Stage next_of_decode() const;
  // The part of its time while none of its pieces runs.
  model::RunPart waits_in() const;
  int64_t rows() const { return generation == nullptr ? planned_rows : generation->rows(); }
};

// Sorted by order key, then arrival. Confined to the engine thread.
class JobTable {
 public:
  using Jobs = std::vector<std::unique_ptr<HeldJob>>;

  void Add(std::unique_ptr<HeldJob> job);
  void Reorder(HeldJob& job, double order_key);
  std::unique_ptr<HeldJob> Remove(const HeldJob& job);

  HeldJob* Find(const std::string& job) const;
  HeldJob* FirstThatCanMove() const;
  HeldJob* FirstThatCanStep() const;
  bool Uses(const model::Pipeline* pipeline) const;
  bool AnyHasStepped() const;
  // InfiniteFuture if no job has one.
  absl::Time FirstDeadline() const;
  const Jobs& all() const { return jobs_; }

 private:
  void Sort();
  Jobs jobs_;
  int64_t arrivals_ = 0;
};

}  // namespace reel::worker
