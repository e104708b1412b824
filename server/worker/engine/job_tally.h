// SPDX-License-Identifier: Apache-2.0
// A job's costs so far.
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
  void TextEncoded(absl::Duration took) { text_encode_ += took, device_ += took; }
  // A step of `jobs` jobs, of whose rows this job had `share`.
  void Stepped(absl::Duration took, int jobs, double share);
  // The same that came to nothing: device time all the same.
  void StepLost(absl::Duration took, double share);
  // So many steps are done, and so many of them took over what an earlier one computed.
  void StepsDone(int done, int reused) { done_steps_ = done, reused_steps_ = reused; }
  int done_steps() const { return done_steps_; }
  int reused_steps() const { return reused_steps_; }
  // Of no stage, but of the device's time all the same.
  void Previewed(absl::Duration took) { device_ += took; }
  void Decoded(absl::Duration took) { decode_ += took, device_ += took; }
  void Used(const std::vector<kernels::VariantUse>& uses);
  // The operators of a piece of `stage` that took `took`. A step: not the job's first.
  void Timed(model::Stage stage, absl::Duration took,
             const std::vector<kernels::VariantTime>& times);
  bool has_timed_step() const { return timed_.count(model::Stage::kDenoise) != 0; }
  void HoldsMemory(int64_t bytes);
  // A piece added so much to what the device holds, at its fullest and for good; its own part.
  void TookMemory(int64_t peak, int64_t stays);
  // Nobody knows what a piece added.
  void MissedMemory() { missed_memory_ = true; }
  // `joules` were taken by the device in the last `over`, which ends now: its share is that of its
  // device time since it was told last. What was taken while nobody moved is nobody's.
  void TookEnergy(double joules, absl::Duration over);
  // Most of the device's memory that was its own; 0: not known.
  int64_t own_memory() const { return missed_memory_ ? 0 : own_peak_bytes_; }

  // The worker's half of the statistics, but for what the end of the file brings.
  model::RunStats Stats(const std::string& device, int64_t latent_tokens) const;

 private:
  // Operators of a part that took `whole`, from what was timed of it.
  void AddOperators(model::Stage stage, model::RunPart part, absl::Duration whole,
                    model::RunStats& stats) const;

  using Variant = std::pair<std::string, std::string>;  // operator, variant

  absl::Duration text_encode_, denoise_, decode_, device_;
  absl::Duration device_with_energy_;  // of device_, whose energy is known
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
