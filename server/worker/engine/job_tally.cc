// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/job_tally.h"

#include <algorithm>

#include "kernels/dispatch/kernel_profiles.h"

namespace reel::worker {

void JobTally::Stepped(absl::Duration took, int jobs, double share) {
  denoise_ += took;
  device_ += took * share;
  ++steps_;
  batched_jobs_ += jobs;
}

void JobTally::StepLost(absl::Duration took, double share) {
  denoise_ += took;
  device_ += took * share;
}

void JobTally::Used(const std::vector<kernels::VariantUse>& uses) {
  for (const auto& use : uses) calls_[{use.op, use.variant}] += use.calls;
}

void JobTally::Timed(model::Stage stage, absl::Duration took,
                     const std::vector<kernels::VariantTime>& times) {
  TimedStage& timed = timed_[stage];
  ++timed.pieces;
  timed.took += took;
  for (const auto& time : times) {
    auto& [calls, nanoseconds] = timed.operators[{time.op, time.variant}];
    calls += time.calls;
    nanoseconds += time.total_ns;
  }
}

void JobTally::HoldsMemory(int64_t bytes) {
  peak_memory_bytes_ = std::max(peak_memory_bytes_, bytes);
}

void JobTally::TookMemory(int64_t peak, int64_t stays) {
  own_peak_bytes_ = std::max(own_peak_bytes_, own_bytes_ + peak);
  own_bytes_ += stays;
}

void JobTally::TookEnergy(double joules, absl::Duration over) {
  const absl::Duration used = device_ - device_with_energy_;
  if (used <= absl::ZeroDuration()) return;
  device_with_energy_ = device_;
  // Two clocks are involved: a job never gets more energy than was used.
  const double share = used < over ? absl::FDivDuration(used, over) : 1;
  joules_ = joules_.value_or(0) + share * joules;
}

void JobTally::AddOperators(model::Stage stage, model::RunPart part, absl::Duration whole,
                            model::RunStats& stats) const {
  const auto found = timed_.find(stage);
  if (found == timed_.end() || found->second.operators.empty()) return;
  absl::Duration sum;
  for (const auto& [variant, time] : found->second.operators) {
    sum += absl::Nanoseconds(time.second);
  }
  // A device's timer may report more than the host's time of the piece.
  const absl::Duration took = std::max(found->second.took, sum);
  const double scale = took > absl::ZeroDuration() ? absl::FDivDuration(whole, took) : 0;
  for (const auto& [variant, time] : found->second.operators) {
    const absl::Duration timed = absl::Nanoseconds(time.second);
    stats.operators.push_back(
        {part, variant.first, variant.second, time.first, timed, timed * scale});
  }
  stats.operators.push_back({part, "gaps", "", 0, took - sum, (took - sum) * scale});
}

model::RunStats JobTally::Stats(const std::string& device, int64_t latent_tokens) const {
  model::RunStats stats;
  stats.text_encode = text_encode_;
  stats.denoise = denoise_;
  stats.sound_decode = sound_;
  stats.decode = decode_;
  stats.device = device;
  stats.peak_memory_bytes = peak_memory_bytes_;
  if (steps_ > 0) {
    stats.mean_batch = static_cast<double>(batched_jobs_) / static_cast<double>(steps_);
  }
  stats.full_steps = done_steps_ - reused_steps_;
  stats.reused_steps = reused_steps_;
  stats.adapter_upload = adapter_upload_;
  for (const auto& [variant, calls] : calls_) {
    const auto& [op, name] = variant;
    stats.kernels.push_back({op, name, calls, kernels::IsLossyVariant(op, name)});
  }
  if (const auto steps = timed_.find(model::Stage::kDenoise); steps != timed_.end()) {
    stats.timed_steps = steps->second.pieces;
    for (const auto& [variant, time] : steps->second.operators) {
      stats.kernel_stats.push_back({variant.first, variant.second, time.first, time.second});
    }
  }
  AddOperators(model::Stage::kTextEncode, model::RunPart::kText, text_encode_, stats);
  AddOperators(model::Stage::kDenoise, model::RunPart::kDenoise, denoise_, stats);
  AddOperators(model::Stage::kSound, model::RunPart::kSound, sound_, stats);
  AddOperators(model::Stage::kDecode, model::RunPart::kDecode, decode_, stats);
  for (const model::OperatorCost& cost : stats.operators) {
    const bool waits = cost.part == model::RunPart::kDenoise && cost.op == model::kWeightsOp;
    if (waits) stats.stream_stall += cost.estimate;
  }
  stats.device_seconds = absl::ToDoubleSeconds(device_);
  stats.latent_tokens = static_cast<int>(latent_tokens);
  stats.energy_joules = joules_;
  return stats;
}

}  // namespace reel::worker
