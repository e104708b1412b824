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

void JobTally::Used(const std::vector<kernels::VariantUse>& uses) {
  for (const auto& use : uses) calls_[{use.op, use.variant}] += use.calls;
}

void JobTally::Timed(const std::vector<kernels::VariantTime>& times) {
  for (const auto& time : times) {
    auto& [calls, nanoseconds] = times_[{time.op, time.variant}];
    calls += time.calls;
    nanoseconds += time.total_ns;
  }
}

void JobTally::HoldsMemory(int64_t bytes) {
  peak_memory_bytes_ = std::max(peak_memory_bytes_, bytes);
}

model::RunStats JobTally::Stats(const std::string& device, int64_t latent_tokens) const {
  model::RunStats stats;
  stats.text_encode = text_encode_;
  stats.denoise = denoise_;
  stats.decode = decode_;
  stats.encode_exposed = encode_exposed_;
  stats.device = device;
  stats.peak_memory_bytes = peak_memory_bytes_;
  if (steps_ > 0) {
    stats.mean_batch = static_cast<double>(batched_jobs_) / static_cast<double>(steps_);
  }
  for (const auto& [variant, calls] : calls_) {
    const auto& [op, name] = variant;
    stats.kernels.push_back({op, name, calls, kernels::IsLossyVariant(op, name)});
  }
  for (const auto& [variant, time] : times_) {
    stats.kernel_stats.push_back({variant.first, variant.second, time.first, time.second});
  }
  stats.device_seconds = absl::ToDoubleSeconds(device_);
  stats.latent_tokens = static_cast<int>(latent_tokens);
  return stats;
}

}  // namespace reel::worker
