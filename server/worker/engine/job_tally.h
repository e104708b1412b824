// SPDX-License-Identifier: Apache-2.0
// Adds up one job's costs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/kernel_listing.h"
#include "model/run_stats.h"

namespace reel::worker {

class JobTally {
 public:
  // Within the piece that TextEncoded tells of.
  void AdaptersUploaded(absl::Duration took) { adapter_upload_ += took; }
  void TextEncoded(absl::Duration took) { text_encode_ += took, device_ += took; }
  // A step of `jobs` jobs, in which this job had `share` of the rows.
  void Stepped(absl::Duration took, int jobs, double share);
  // The same for a discarded step, which costs device time all the same.
  void StepLost(absl::Duration took, double share);
  // Sets the steps done, and how many of them reused an earlier result.
  void StepsDone(int done, int reused) { done_steps_ = done, reused_steps_ = reused; }
  int done_steps() const { return done_steps_; }
  int reused_steps() const { return reused_steps_; }
  // Device time that belongs to no stage.
  void Previewed(absl::Duration took) { device_ += took; }
  void Sounded(absl::Duration took) { sound_ += took, device_ += took; }
  void Decoded(absl::Duration took) { decode_ += took, device_ += took; }
  void Used(const std::vector<kernels::VariantUse>& uses);
  // Operators of a piece of `stage` that took `took`. Not for the job's first step.
  void Timed(model::Stage stage, absl::Duration took,
             const std::vector<kernels::VariantTime>& times);
  bool has_timed_step() const { return timed_.count(model::Stage::kDenoise) != 0; }
  void HoldsMemory(int64_t bytes);
  // The device memory that a piece added for this job: its peak, and what stays.
  void TookMemory(int64_t peak, int64_t stays);
  // A piece whose memory is unknown.
  void MissedMemory() { missed_memory_ = true; }
  // Adds this job's share of `joules`, which the device used in the last `over` until now: by its
  // device time since the previous call. Energy while no job moved is charged to none.
  void TookEnergy(double joules, absl::Duration over);
  // The peak of device memory that was its own; 0: unknown.
  int64_t own_memory() const { return missed_memory_ ? 0 : own_peak_bytes_; }

  // The worker's half of the statistics, without what the file's end adds.
  model::RunStats Stats(const std::string& device, int64_t latent_tokens) const;

 private:
  // Scales operators of a part that took `whole` from the timed pieces.
  void AddOperators(model::Stage stage, model::RunPart part, absl::Duration whole,
                    model::RunStats& stats) const;

  using Variant = std::pair<std::string, std::string>;  // operator, variant

  absl::Duration text_encode_, denoise_, sound_, decode_, device_, adapter_upload_;
  absl::Duration device_with_energy_;  // the part of device_ whose energy is known
  std::optional<double> joules_;
  int64_t steps_ = 0, batched_jobs_ = 0;
  int done_steps_ = 0, reused_steps_ = 0;
  int64_t peak_memory_bytes_ = 0;
  int64_t own_bytes_ = 0, own_peak_bytes_ = 0;
  bool missed_memory_ = false;
  std::map<Variant, int64_t> calls_;
  struct TimedStage {
    int pieces = 0;
    absl::Duration took;
    std::map<Variant, std::pair<int64_t, int64_t>> operators;  // calls, nanoseconds
  };
  std::map<model::Stage, TimedStage> timed_;
};

}  // namespace reel::worker
