// SPDX-License-Identifier: Apache-2.0
// Holds generations and moves them in bounded pieces, lowest order key first, reading cancels,
// deadlines and new work between any two pieces. The front decides what to hold; the engine decides
// how to pack it into steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/dispatch/execution.h"
#include "model/counted_memory.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "server/protocol/assignment.h"
#include "server/protocol/worker_report.h"
#include "server/worker/engine/energy_watch.h"

namespace reel::kernels {
class KernelCatalog;
class KernelTimer;
}  // namespace reel::kernels

namespace reel::worker {

struct EngineOptions {
  kernels::DeviceStream stream;
  std::vector<int> peers = {};  // the other members of a group, which only models use
  std::string device;           // for people and statistics, e.g. "cpu"
  int64_t fill_rows = 8192;
  // For measurements: each step takes this many jobs if there are as many; 0: the engine decides.
  int most_jobs_in_step = 0;
  // A step expected to take this long is made in pieces, so that other jobs can move in between.
  absl::Duration long_step = absl::Milliseconds(125);
  int kernel_sample_every = 32;  // 0: never
  // Times the operators of sampled steps; outlives the engine. Null: no step is sampled.
  kernels::KernelTimer* timer = nullptr;
  // Null: memory is not reported.
  model::MemoryReader read_memory = nullptr;
  // Null: no energy is reported.
  EnergyReader read_energy = nullptr;
  // Null: the device has no context to lose.
  model::DeviceProbe probe_device = nullptr;
  // The bytes that the allocator may keep while nothing moves; what is above is freed. 0: no bound.
  int64_t memory_bytes = 0;
  // What models plan their weights for; 0: they keep all of them on the device. On a CPU always 0:
  // it has no memory of its own.
  int64_t device_memory = 0;
  // Null: there is no caching allocator.
  model::MemoryReturner return_memory = nullptr;
  // Accounts for weights, and for the test card, where a device has no memory of its own; null:
  // nothing is accounted.
  std::shared_ptr<model::CountedMemory> counted = nullptr;
  int encoder_threads = 0;  // of a video; 0: as many as the machine has cores, up to 16
  // The limits that specs were resolved with; the front uses the same.
  model::RequestLimits limits = model::AdmittedLimits();
};

// Commands, carried out in their order.
struct LoadModel {
  model::LoadOptions options;
  // 0: before the first job, at once. Otherwise beside jobs: it serves once its canary has passed,
  // and the model under its name serves until then.
  int64_t revision = 0;
};
struct UnloadModel {
  std::string model;
};
struct ReorderJob {
  std::string job;
  double order_key = 0;
};
struct ParkJob {
  std::string job;
  bool to_host = false;
};
struct ResumeJob {
  std::string job;
};
struct CancelJob {
  std::string job;
};
struct DrainEngine {
  absl::Duration time_left;
};
using EngineCommand = std::variant<LoadModel, UnloadModel, Assignment, ReorderJob, ParkJob,
                                   ResumeJob, CancelJob, DrainEngine>;

// Reports of the engine. Called on the engine's and the encoders' threads.
class EngineEvents {
 public:
  virtual ~EngineEvents() = default;
  // Must not block, except for JobMedia and JobState, which may hold an encoder thread (never the
  // engine) until there is room. Both come before their job's JobFinished; after JobFailed one
  // piece may still come. The engine's destructor waits for calls with either to return. `worker`
  // is not filled in: the engine does not know it.
  virtual void Report(WorkerReport report) = 0;
  // The device's context is lost: the process must end, with exit code 42, or 43 if the device
  // itself is lost (kernels::IsDeviceGone).
  virtual void DeviceLost(const absl::Status& error) = 0;
  // All jobs are finished, or the time to finish is up and the rest is dropped; Run returns.
  virtual void Drained() = 0;
};

class Engine {
 public:
  // `catalog` and `events` outlive the engine.
  Engine(EngineOptions options, const kernels::KernelCatalog& catalog, EngineEvents& events);
  ~Engine();

  // Thread-safe, never blocks.
  void Post(EngineCommand command);
  // The loop. Returns after a drain or Stop.
  void Run();
  // Thread-safe: leave at the next piece.
  void Stop();

  // Thread-safe, for the heartbeat: how long the piece under way has taken; zero between pieces.
  absl::Duration in_step() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::worker
