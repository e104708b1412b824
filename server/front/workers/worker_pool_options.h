// SPDX-License-Identifier: Apache-2.0
// The pool's settings: devices, models, time limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/plugin_source.h"
#include "model/registry.h"
#include "server/convert/worker_convert.h"
#include "server/front/workers/restart_policy.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

struct WorkerOptions {
  std::string name;                 // unique
  std::string device = "cpu";       // "cpu", "cuda:0", "cuda:0+cuda:1"
  std::vector<std::string> models;  // which it loads; empty: all
  int64_t memory_bytes = 0;         // of the device, for models and videos; 0: all
};

struct WorkerPoolOptions {
  std::vector<WorkerOptions> workers;
  std::vector<model::LoadOptions> models;      // loaded in this order
  std::vector<kernels::PluginSource> plugins;  // opened by every worker, in this order
  int encoder_threads = 0;                     // of a video; 0: a worker's share of the cores
  int64_t fill_rows = 8192;
  int kernel_sample_every = 32;  // 0: no operator is timed
  std::string runtime_base;      // the user's run-time folder; empty: /tmp
  RestartOptions restart;

  absl::Duration hello_timeout = absl::Seconds(60);     // from start to Hello
  absl::Duration heartbeat_timeout = absl::Seconds(5);  // without a message, while we read
  absl::Duration exit_grace = absl::Seconds(1);         // from a broken stream to the process's end
  absl::Duration drain_grace = absl::Seconds(1);        // on top of the time that a drain is given
  absl::Duration watch_interval = absl::Milliseconds(100);
  int64_t media_buffer_bytes = 8 << 20;  // of one worker, in front of the disk
};

// Threads that encode a video. Where none are configured, workers share the machine's cores.
int EncoderThreads(int configured, size_t workers, int cores);

// What a worker starts with.
WorkerSettings SettingsOf(const WorkerOptions& worker, const WorkerPoolOptions& options);

// A device's memory within the configuration's bound; 0: none of its own, no bound.
int64_t Bounded(int64_t total, int64_t bound);

// A change of a device's memory that is worth a look, in parts of it.
inline constexpr int64_t kMemoryGrains = 256;
bool IsFarFrom(const model::DeviceMemory& a, const model::DeviceMemory& b, int64_t grain);

void LogWarmUp(const std::string& worker, const std::string& model, const WarmedUp& video);

}  // namespace reel::front
