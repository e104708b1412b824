// SPDX-License-Identifier: Apache-2.0
// A worker's report as one value, from the engine to the dispatcher.
// server/convert/report_convert.h turns it into messages between the two processes.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/dispatch/kernel_listing.h"
#include "model/device_memory.h"
#include "model/field_name.h"
#include "model/load_options.h"
#include "model/model_card.h"
#include "model/pipeline.h"
#include "model/run_stats.h"
#include "server/protocol/assignment.h"

namespace reel {

// Reports about the worker itself.

struct KernelsListed {  // once its plug-ins are opened or refused
  std::vector<kernels::OpListing> kernels;
  std::vector<kernels::PluginListing> plugins;
};
// A video that was made before the model serves; an error does not keep it from serving.
struct WarmedUp {
  model::WarmUpSize size;
  absl::Duration took;
  absl::Status status;
};
struct ModelLoaded {
  std::string model;  // as the configuration names it
  model::ModelCard card;
  int64_t revision = 0;  // of the command; 0: loaded when the worker started
  std::vector<WarmedUp> warm_ups = {};
};
// A model that is loaded on demand was checked, and can be loaded.
struct ModelKnown {
  std::string model;
  model::ModelCard card;
};
struct ModelFailed {
  std::string model;
  absl::Status error;
  int64_t revision = 0;
};
// One step of the device, with all jobs in it.
struct StepSample {
  std::vector<std::string> jobs;
  std::string model, plan;
  int64_t rows = 0;
  std::vector<int64_t> job_rows;
  absl::Duration duration;
  model::Stage stage = model::Stage::kDenoise;
  std::vector<kernels::VariantTime> kernels;  // on sampled steps
  int reused = 0;  // how many of its jobs reused an earlier step's result
  // For a shared step: the sum of its jobs' solo step times; 0: unknown.
  absl::Duration apart = {};
  int left_out = 0;            // jobs that fitted but are kept apart, because sharing loses
  int64_t streamed_bytes = 0;  // of weights, copied to the device for it
};

// By the message's names, without the stage and the kernels.
template <typename Visitor>
void VisitFields(Visitor& visit, auto& step)
  requires std::is_same_v<std::remove_cvref_t<decltype(step)>, StepSample>
{
  using model::operator""_field;
  visit("jobs"_field, step.jobs);
  visit("model"_field, step.model);
  visit("plan"_field, step.plan);
  visit("rows"_field, step.rows);
  visit("job_rows"_field, step.job_rows);
  visit("duration"_field, step.duration);
  visit("reused"_field, step.reused);
  visit("apart"_field, step.apart);
  visit("left_out"_field, step.left_out);
  visit("streamed_bytes"_field, step.streamed_bytes);
}
// Memory that all models of a worker hold.
struct HeldBytes {
  int64_t adapters = 0;      // for requests, on the device, without their room in the layers
  int64_t host_weights = 0;  // weights in host memory

  friend bool operator==(const HeldBytes&, const HeldBytes&) = default;
};
struct Stepped {
  std::vector<StepSample> steps;       // since the last report
  model::DeviceMemory memory;          // as it is now; zeros if there is none to read
  model::PromptCounts prompts;         // since the last report
  model::AdapterCounts adapters = {};  // likewise, of the model of the steps
  int64_t millijoules = 0;             // used by the device since an earlier report; 0: unknown
  HeldBytes held = {};                 // as it is now
};

// Reports about a job.

struct JobProgress {
  model::Stage stage = model::Stage::kQueue;
  int step = 0, num_steps = 0;
};
struct JobPreview {
  int step = 0;
  std::string jpeg;
  int width = 0, height = 0;
};
struct JobMedia {  // the next bytes of its file
  int64_t offset = 0;
  std::string bytes;
  bool fragment_end = false;  // the file plays up to here
};
struct JobState {  // the next bytes of the state that it leaves
  int64_t offset = 0;
  std::string bytes;
};
struct JobParked {
  int64_t device_bytes = 0;  // jobs still held there
};
struct JobFinished {
  model::RunStats stats;
  model::MediaInfo media;  // content type, size and duration; the front adds the hash
  std::vector<model::Notice> notices;
  int64_t memory_bytes = 0;      // peak of device memory that was its own; 0: unknown
  int64_t state_size_bytes = 0;  // of the state that it left; 0: none
  std::string state_sha256;      // of that, in lower-case hex
};
// Also sent when a cancelled job has ended (kCancelled): its slot is free.
struct JobFailed {
  absl::Status error;    // with a Reason (server/errors)
  bool suspect = false;  // the job itself is to blame: it is not retried
  // The device was lost with it: its worker is about to end, and its other jobs are not to blame.
  bool device_lost = false;
};

using WorkerEvent =
    std::variant<KernelsListed, ModelLoaded, ModelKnown, ModelFailed, Stepped, JobProgress,
                 JobPreview, JobMedia, JobState, JobParked, JobFinished, JobFailed>;

struct WorkerReport {
  std::string worker;  // set by the front, which knows the stream
  JobRef ref;          // set in events of a job
  WorkerEvent event;
};

}  // namespace reel
