// SPDX-License-Identifier: Apache-2.0
// The worker's heart: it holds generations and moves them in bounded pieces, lowest order key
// first, and reads cancels, deadlines and new work between any two pieces. What to hold is the
// front's decision; how to pack what it holds into steps is the engine's.
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
  std::vector<int> peers = {};  // the other members of a group, which the models know of alone
  std::string device;           // for people and statistics, e.g. "cpu"
  int64_t fill_rows = 8192;
  // For measurements: a step takes so many jobs where there are as many, whatever they gain; 0: the
  // engine decides.
  int most_jobs_in_step = 0;
  // One that takes so long is made in pieces, between which others can move.
  absl::Duration long_step = absl::Milliseconds(125);
  int kernel_sample_every = 32;  // 0: never
  // Times the operators of sampled steps; outlives the engine. Null: no step is sampled.
  kernels::KernelTimer* timer = nullptr;
  // Null: no figures of memory are reported.
  model::MemoryReader read_memory = nullptr;
  // Null: no energy is reported.
  EnergyReader read_energy = nullptr;
  // Null: the device has no context to lose.
  model::DeviceProbe probe_device = nullptr;
  // What the allocator may keep beyond it is given back while nothing moves; 0: no bound.
  int64_t memory_bytes = 0;
  // Null: no allocator keeps anything.
  model::MemoryReturner return_memory = nullptr;
  // What weights, and the test card, take of where a device has no memory of its own; null: nothing
  // is counted.
  std::shared_ptr<model::CountedMemory> counted = nullptr;
  int encoder_threads = 0;  // of a video; 0: as many as the machine has cores, up to 16
  // Those of the specs that are assigned: the same as where they were resolved.
  model::RequestLimits limits = {};
};

// Commands, in the order in which they are carried out.
struct LoadModel {
  model::LoadOptions options;
  // 0: before the first job, at once. Else beside jobs: it serves once its canary is through, and
  // whatever serves under its name does so until then.
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

// What happens, as it happens. Called on the engine's and the encoders' threads.
class EngineEvents {
 public:
  virtual ~EngineEvents() = default;
  // Must not block, but for JobMedia, which may hold an encoder thread (never the engine) until
  // there is room. JobMedia of a job comes before its JobFinished; after a JobFailed one piece that
  // was on its way may still come. The engine's destructor waits for calls with JobMedia to return.
  // `worker` is not filled in: the engine does not know it.
  virtual void Report(WorkerReport report) = 0;
  // The device's context is lost: the process must end, and says so with exit code 42, or 43 where
  // the device itself is (kernels::IsDeviceGone).
  virtual void DeviceLost(const absl::Status& error) = 0;
  // All that it held is finished, or its time to finish is up and the rest is dropped; Run returns.
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
