// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/worker_pool_options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/logging/log.h"

namespace reel::front {

int EncoderThreads(int configured, size_t workers, int cores) {
  constexpr int kMost = 16, kLeast = 2;
  if (configured > 0) return configured;
  return std::clamp(cores / static_cast<int>(std::max<size_t>(workers, 1)), kLeast, kMost);
}

WorkerSettings SettingsOf(const WorkerOptions& worker, const WorkerPoolOptions& options) {
  WorkerSettings settings{
      .models = {},
      .kernel_sample_every = options.kernel_sample_every,
      .encoder_threads = EncoderThreads(options.encoder_threads, options.workers.size(),
                                        static_cast<int>(std::thread::hardware_concurrency())),
      .fill_rows = options.fill_rows,
      .plugins = options.plugins,
      .memory_bytes = worker.memory_bytes};
  for (const model::LoadOptions& load : options.models) {
    if (worker.models.empty() || std::ranges::count(worker.models, load.name) > 0) {
      settings.models.push_back(load);
    }
  }
  return settings;
}

int64_t Bounded(int64_t total, int64_t bound) {
  return total > 0 && bound > 0 ? std::min(total, bound) : std::max(total, bound);
}

bool IsFarFrom(const model::DeviceMemory& a, const model::DeviceMemory& b, int64_t grain) {
  const std::pair<int64_t, int64_t> figures[] = {{a.held, b.held},
                                                 {a.reserved, b.reserved},
                                                 {a.in_use, b.in_use},
                                                 {a.kept, b.kept},
                                                 {a.most, b.most}};
  return std::any_of(std::begin(figures), std::end(figures), [grain](const auto& figure) {
    return std::abs(figure.first - figure.second) > grain;
  });
}

void LogWarmUp(const std::string& worker, const std::string& model, const WarmedUp& video) {
  const std::string shape =
      absl::StrCat(video.size.width, "x", video.size.height, "x", video.size.num_frames);
  if (!video.status.ok()) {
    Log(LogLevel::kWarning, "A model could not be warmed up; it serves",
        {{"worker", worker}, {"model", model}, {"shape", shape}, {"error", video.status}});
    return;
  }
  Log(LogLevel::kInfo, "A model was warmed up",
      {{"worker", worker}, {"model", model}, {"shape", shape}, {"duration", video.took}});
}

}  // namespace reel::front
