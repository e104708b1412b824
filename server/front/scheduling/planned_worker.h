// SPDX-License-Identifier: Apache-2.0
// A worker as the dispatcher's thread knows it, what it holds, and what a job asks of one.
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

// Of jobs; whoever makes one keeps the names.
using JobIds = std::unordered_set<std::string_view>;

// A job that a worker was given and has not reported as ended. It may outlive the ActiveJob.
struct HeldJob {
  int attempt = 1;
  WorkShape shape;
  absl::Duration left;       // predicted
  int64_t memory_bytes = 0;  // of the device, at its fullest; predicted
  double order_key = 0;
  bool alone = false;
  bool started = false;   // has reported a stage of its own
  bool innocent = false;  // another job has cost the worker
  std::optional<absl::Duration> cancelled_at;
  // While it is parked: the job that goes before it.
  std::string parked_for;
  bool told_parked = false;  // and its worker has said so
  // Of its state; and what of it is still on the device.
  int64_t parked_bytes = 0, device_bytes = 0;
  bool to_host = false;  // the worker was told to move it
  // Since it was stepped first, or resumed; see preemption.h.
  absl::Duration stepped_since = absl::InfiniteDuration();
  int stepped_from = 0;
  bool ran_enough = false;

  bool parked() const { return !parked_for.empty(); }
};

// A video that is rendered again for a comparison (shadows/). No job waits for it, and it is in no
// account.
struct ShadowRun {
  std::string id;
  WorkShape shape;
  bool given_up = false;  // and its worker was told
};

// That work on a video at once: of a group all of them.
int NumDevices(const WorkerInfo& worker);

struct PlannedWorker {
  WorkerInfo info;
  std::set<std::string> loaded;  // models
  std::set<std::string> known;   // that it can load on demand, whether or not it has them
  // When jobs of a model came or went last, counted over all; and since when it is being loaded.
  std::map<std::string, int64_t> used;
  std::map<std::string, absl::Duration> loading_since;
  // Of models that it has loaded once: their type may be another one elsewhere.
  std::map<std::string, std::vector<kernels::KernelCall>> calls;
  std::set<std::string> steps_alone;  // of those, the ones whose jobs share no steps here
  struct Together {
    size_t most = 0;
    int tried = 0;  // by more, in the latest steps
  };
  // How many jobs of a model and plan share a step, where the worker keeps more of them apart.
  std::map<std::pair<std::string, std::string>, Together> together;
  std::set<std::string> loading;              // models that are on their way, beside those it has
  std::map<std::string, int64_t> asked;       // the revision that was sent last, of each model
  std::map<std::string, ModelFailed> failed;  // the latest load, where it failed, by model
  std::map<std::string, HeldJob> held;
  std::optional<ShadowRun> shadow;
  absl::Duration step_limit;  // as last set
  bool is_dying = false;      // has lost its device and will end

  // Whether so many jobs like this one, of so many rows together, are stepped in one call.
  bool Packs(const WorkShape& like, size_t jobs, int64_t rows, int64_t fill_rows) const;
  // Its jobs' steps are like this from now on; true: whether it packs some is another matter now.
  bool SawStep(const StepSample& step);
  // A model that came to it, or may.
  void SetSteps(const model::ModelCard& card);
  bool Offers(const std::string& model) const {
    return loaded.contains(model) || known.contains(model);
  }
  // Of its device, or of those of its group: "cuda:1 NVIDIA H200" is as good as "cuda:0 NVIDIA
  // H200".
  std::string_view kind() const;
  int num_devices() const { return NumDevices(info); }
  bool HoldsJobOf(const std::string& model) const;
  absl::Duration Backlog(const JobIds& without = {}) const;
};

// What a job asks of a worker.
struct Need {
  std::string model;
  std::string worker;  // empty: any
  std::string profile;
  std::map<std::string, std::string> variants;
  WorkShape shape;
  int64_t memory_bytes = 0;  // of the device, at its fullest; predicted
  bool alone = false;
};

// Accounts of a worker's device memory: what is given to whom and what would still fit, by
// predictions, since a device's own figures come too late. Pure functions.

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

// Of a device's memory this part is nobody's: contexts, pieces too small for anybody, errors of
// predictions.
inline constexpr double kMemoryMargin = 0.05;

// Bytes.
struct MemoryAccount {
  int64_t usable = 0;   // all but the margin; 0: no account is kept, and everything fits
  int64_t outside = 0;  // of the usable part what others took: processes, contexts
  int64_t weights = 0;  // of models that are there or on their way
  int64_t jobs = 0;     // at their fullest, those that are parked included: they come back

  int64_t left() const { return usable - outside - weights - jobs; }
};

// What a job would need, and the most that it could have. Its model's weights are in both.
struct MemoryNeed {
  int64_t needed = 0, there = 0;
};

using Cards = std::map<std::string, model::ModelCard>;

// 0: not known.
int64_t WeightsOf(const std::string& model, const Cards& cards);
MemoryAccount AccountOf(const PlannedWorker& worker, const Cards& cards);
// Whether the worker has the memory for the job now, if it parked these.
bool Fits(const PlannedWorker& worker, const Need& need, const Cards& cards,
          const JobIds& parked = {});
// As if nobody else were there; nullopt: no account is kept.
std::optional<MemoryNeed> NeedAlone(const PlannedWorker& worker, const Need& need,
                                    const Cards& cards);

}  // namespace reel::front
