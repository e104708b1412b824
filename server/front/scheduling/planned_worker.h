// SPDX-License-Identifier: Apache-2.0
// A worker as the dispatcher's thread knows it, the jobs it holds, and what a job needs of one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/model_card.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/workers/worker_info.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Ids of jobs, owned elsewhere.
using JobIds = std::unordered_set<std::string_view>;

// A job that a worker has received and not reported as ended. May outlive the ActiveJob.
struct HeldJob {
  int attempt = 1;
  WorkShape shape;
  absl::Duration left;       // predicted
  int64_t memory_bytes = 0;  // predicted peak on the device
  double order_key = 0;
  bool alone = false;
  bool started = false;   // has reported a stage of its own
  bool innocent = false;  // another job was to blame for the worker's loss
  std::optional<absl::Duration> cancelled_at;
  // The job that it is parked for.
  std::string parked_for;
  bool told_parked = false;  // confirmed by the worker
  // Bytes of its state, and the part that is still on the device.
  int64_t parked_bytes = 0, device_bytes = 0;
  bool to_host = false;  // the worker was told to move it
  // Time of its first step or of its resumption; see preemption.h.
  absl::Duration stepped_since = absl::InfiniteDuration();
  int stepped_from = 0;
  bool ran_enough = false;

  bool parked() const { return !parked_for.empty(); }
};

// A video that is rendered again for a comparison (shadows/). No job waits for it, and nobody is
// charged for it.
struct ShadowRun {
  std::string id;
  WorkShape shape;
  bool given_up = false;  // and the worker was told
};

// Number of devices that work on one video: all of a group.
int NumDevices(const WorkerInfo& worker);

struct PlannedWorker {
  WorkerInfo info;
  std::set<std::string> loaded;  // models
  std::set<std::string> known;   // that it can load on demand, whether or not it has them
  // Last use of each model, by a counter over all, and since when a model is being loaded.
  std::map<std::string, int64_t> used;
  std::map<std::string, absl::Duration> loading_since;
  // Kernel calls of models that it has loaded once; other workers may use another number type.
  std::map<std::string, std::vector<kernels::KernelCall>> calls;
  std::set<std::string> steps_alone;  // models whose jobs share no steps here
  struct Together {
    size_t most = 0;
    int tried = 0;  // of the latest steps, those with more jobs
  };
  // How many jobs of a model and plan share a step, if the worker limits that.
  std::map<std::pair<std::string, std::string>, Together> together;
  std::set<std::string> loading;              // models that are on their way, beside those it has
  std::map<std::string, int64_t> asked;       // the revision that was sent last, of each model
  std::map<std::string, ModelFailed> failed;  // latest failed load by model
  std::map<std::string, HeldJob> held;
  std::optional<ShadowRun> shadow;
  absl::Duration step_limit;  // as last set
  bool is_dying = false;      // has lost its device and will end

  // Whether `jobs` jobs like this one, with `rows` rows together, run in one call.
  bool Packs(const WorkShape& like, size_t jobs, int64_t rows, int64_t fill_rows) const;
  // Notes how its jobs' steps run. Returns whether that changes which jobs it packs.
  bool SawStep(const StepSample& step);
  // Notes how a model's steps run.
  void SetSteps(const model::ModelCard& card);
  bool Offers(const std::string& model) const {
    return loaded.contains(model) || known.contains(model);
  }
  // Kind of its device, or of its group's: the same for "cuda:1 NVIDIA H200" and "cuda:0 NVIDIA
  // H200".
  std::string_view kind() const;
  int num_devices() const { return NumDevices(info); }
  bool HoldsJobOf(const std::string& model) const;
  absl::Duration Backlog(const JobIds& without = {}) const;
};

// Requirements of a job for its worker.
struct Need {
  std::string model;
  std::string worker;  // empty for any
  std::string profile;
  std::map<std::string, std::string> variants;
  WorkShape shape;
  int64_t memory_bytes = 0;  // of the device, at its fullest; predicted
  bool alone = false;
};

// Accounts for a worker's device memory by predictions, since a device's own figures come too late.
// Pure functions.

// Note: [Memory]
// A worker's device memory is given out by predictions. Counted are the weights of its models,
// those on their way included, and the peak of each job that it holds, parked ones too. A twentieth
// is nobody's, and what others hold beyond that is not there. A job that does not fit waits, and
// nobody behind it in the order takes what becomes free there; one for which others are parked has
// them leave the device. What could not be held with nobody else there is refused.
//
// A peak is what was seen of this model, plan, kind of device and bucket of sizes: up at once and
// down by and by. Before that it is the formula of the model's card. An out of memory raises it:
// beside others by a quarter, alone beyond all that there was. A worker without an account (a CPU
// whose memory_bytes are not set) takes everything.

// Reserved share of a device's memory: contexts, fragmentation, prediction errors.
inline constexpr double kMemoryMargin = 0.05;

// In bytes.
struct MemoryAccount {
  int64_t usable = 0;   // all but the margin; 0 if no account is kept and everything fits
  int64_t outside = 0;  // part of it that other processes and contexts took
  int64_t weights = 0;  // of models that are loaded or being loaded
  int64_t jobs = 0;     // at their fullest, those that are parked included: they come back

  int64_t left() const { return usable - outside - weights - jobs; }
};

// A job's need and the most that it could get, both including its model's weights.
struct MemoryNeed {
  int64_t needed = 0, there = 0;
};

using Cards = std::map<std::string, model::ModelCard>;

// 0 if not known.
int64_t WeightsOf(const std::string& model, const Cards& cards);
MemoryAccount AccountOf(const PlannedWorker& worker, const Cards& cards);
// Whether the worker has memory for the job now, with the jobs in `parked` parked.
bool Fits(const PlannedWorker& worker, const Need& need, const Cards& cards,
          const JobIds& parked = {});
// With no other jobs there; nullopt if no account is kept.
std::optional<MemoryNeed> NeedAlone(const PlannedWorker& worker, const Need& need,
                                    const Cards& cards);

}  // namespace reel::front
