// SPDX-License-Identifier: Apache-2.0
// Settings that a worker starts with, from the configuration; log lines of its models' warm-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "server/convert/worker_convert.h"
#include "server/front/workers/worker_pool_options.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// That encode a video. Where none are configured, workers share the machine's cores.
int EncoderThreads(int configured, size_t workers, int cores);

WorkerSettings SettingsOf(const WorkerOptions& worker, const WorkerPoolOptions& options);

// A device's memory within the configuration's bound; 0: none of its own, no bound.
int64_t Bounded(int64_t total, int64_t bound);

// A change of a device's memory that is worth a look, in parts of it.
inline constexpr int64_t kMemoryGrains = 256;
bool IsFarFrom(const model::DeviceMemory& a, const model::DeviceMemory& b, int64_t grain);

void LogWarmUp(const std::string& worker, const std::string& model, const WarmedUp& video);

}  // namespace reel::front
