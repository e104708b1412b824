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
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "model/run_stats.h"

namespace reel::kernels {
class KernelCatalog;
class KernelTimer;
}  // namespace reel::kernels

namespace reel::worker {

struct EngineOptions {
  kernels::DeviceStream stream;
  std::string device;  // for people and statistics, e.g. "cpu"
  int64_t fill_rows = 5376;
  int kernel_sample_every = 32;  // 0: never
  // Times the operators of sampled steps; outlives the engine. Null: no step is sampled.
  kernels::KernelTimer* timer = nullptr;
  int encoder_threads = 2;
  // Those of the specs that are assigned: the same as where they were resolved.
  model::RequestLimits limits = {};
};

// Commands, in the order in which they are carried out.
struct LoadModel {
  model::LoadOptions options;
};
struct UnloadModel {
  std::string model;
};
struct AssignJob {
  std::string job;
  int attempt = 1;
  model::GenerationSpec spec;  // resolved
  double order_key = 0;        // smaller is sooner
  absl::Duration time_left = absl::InfiniteDuration();
  bool alone = false;  // never share a step
  std::string trace_id;
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
using EngineCommand = std::variant<LoadModel, UnloadModel, AssignJob, ReorderJob, ParkJob,
                                   ResumeJob, CancelJob, DrainEngine>;

// A job at an attempt: what every event names.
struct JobRef {
  std::string job;
  int attempt = 1;
};

struct PreviewImage {
  int step = 0;
  std::string jpeg;
  int width = 0, height = 0;
};

struct StepReport {
  std::vector<std::string> jobs;
  std::string model, plan;
  int64_t rows = 0;
  std::vector<int64_t> job_rows;
  absl::Duration duration;
  model::Stage stage = model::Stage::kDenoise;
  std::vector<kernels::VariantTime> kernels;  // on sampled steps
  int64_t memory_used_bytes = 0, memory_peak_bytes = 0;
};

struct JobResult {
  model::RunStats stats;
  model::MediaInfo media;  // content type, size and duration; the front adds the hash
  std::vector<model::Notice> notices;
};

// What happens, as it happens. Called on the engine's and the encoders' threads; must not block,
// but for Media, which may hold an encoder thread (never the engine) until there is room. Media of
// a job comes before its Finished; after a Failed one piece that was on its way may still come. The
// engine's destructor waits for calls of Media to return.
class EngineEvents {
 public:
  virtual ~EngineEvents() = default;
  virtual void ModelLoaded(const std::string& model, const model::ModelCard& card,
                           int64_t weight_bytes) = 0;
  virtual void ModelFailed(const std::string& model, const absl::Status& error) = 0;
  virtual void Progress(const JobRef& job, model::Stage stage, int step, int num_steps) = 0;
  virtual void Preview(const JobRef& job, PreviewImage preview) = 0;
  virtual void Media(const JobRef& job, int64_t offset, std::string bytes, bool fragment_end) = 0;
  virtual void Stepped(StepReport report) = 0;
  virtual void Parked(const JobRef& job, int64_t device_bytes) = 0;
  virtual void Finished(const JobRef& job, JobResult result) = 0;
  // Also the end of a cancelled job (kCancelled): its slot is free. `suspect`: the job itself is to
  // blame. The error carries a Reason (server/errors).
  virtual void Failed(const JobRef& job, const absl::Status& error, bool suspect) = 0;
  // The device's context is lost: the process must end, and says so with exit code 42.
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

  // Thread-safe, for the heartbeat: pieces done, and how long the one under way has taken (zero
  // between pieces).
  int64_t loop_count() const;
  absl::Duration in_step() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::worker
