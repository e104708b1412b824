// SPDX-License-Identifier: Apache-2.0
// Admission: checks the fields of a request, then whether the server has capacity for it now. Takes
// microseconds and touches neither a device nor the disk.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/worker_roster.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/forecast.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/worker_costs.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// A request whose fields are valid.
struct CheckedRequest {
  model::GenerationSpec spec;  // resolved
  Need need;
  Cost cost;                     // where it takes the least
  std::vector<KindCost> kinds;   // of each kind of device, that one first
  std::optional<PoolCost> pool;  // none: they are one
  OutputSize output;             // predicted
  int64_t condition_bytes = 0;   // sent with it
  absl::Duration timeout;

  // Number of devices that would work on it together.
  int devices() const { return kinds.empty() ? 1 : kinds.front().devices; }
  // Its share of the backlog.
  absl::Duration WorkerTime() const { return pool ? pool->typical_run : cost.p50(); }
};

// The server's current load.
struct Load {
  bool draining = false;
  int queued = 0;
  absl::Duration backlog;         // WorkerTime, of queued and running jobs together
  Answered outlook;               // of the job that asks; in a fleet as if nothing waited
  int tenant_jobs = 0;            // queued or running, of the tenant that asks
  absl::Duration tenant_backlog;  // predicted device time of those
  absl::Duration model_load;      // of the model that is asked for, where no worker has it
  bool guesses_load = false;      // as far as its size tells
  TenantBytes tenant_bytes;
  double tenant_device_seconds = 0;  // used in the last hour
  DiskUsage disk;
  bool of_fleet = false;         // other servers may take what this one could not
  absl::Duration fleet_backlog;  // of all of them
  int fleet_devices = 0;         // 0: not known

  // Predicted wait of the job.
  absl::Duration wait() const { return outlook.wait + model_load; }
};

// Confined to the dispatcher's thread. The references outlive it.
class Admission {
 public:
  Admission(const JobOptions& options, const WorkerRoster& roster, const CostModel& costs)
      : options_(options), roster_(roster), costs_(costs) {}

  // Checks fields, model and kernel plan, and returns all violations together.
  absl::StatusOr<CheckedRequest> CheckRequest(const NewJob& job, uint64_t fresh_seed) const;
  // Checks quota, memory, deadline and queue, in this order. `jitter`: 0.8 to 1.2.
  absl::Status CheckLoad(const NewJob& job, const CheckedRequest& request, const Load& load,
                         const Quarantine& quarantine, absl::Duration now, double jitter) const;
  // Replaces a configured profile by its built-in base and its variants.
  void ExpandProfile(const model::KernelSelection& selection, Need& need) const;
  static void CheckConfiguredProfile(const std::string& base, const model::ModelCard& card,
                                     std::vector<model::FieldViolation>& out);
  // `need` has gone through ExpandProfile.
  static std::string PlanName(const Need& need);

 private:
  absl::StatusOr<const model::ModelCard*> FindModel(const std::string& name) const;
  absl::Duration Timeout(const NewJob& job, std::vector<model::FieldViolation>& out) const;
  void CheckWorker(const std::string& worker, std::vector<model::FieldViolation>& out) const;
  absl::Status CheckPlan(Need& need) const;
  // Plans the kernels that the request selects, or those of its experiment's arm.
  absl::Status CheckKernels(const NewJob& job, uint64_t fresh_seed, const model::ModelCard& card,
                            CheckedRequest& checked, std::vector<model::FieldViolation>& out) const;
  absl::Status PlanFor(const model::ModelCard& card, CheckedRequest& checked,
                       std::vector<model::FieldViolation>& out) const;
  absl::Status CheckQuota(const NewJob& job, const CheckedRequest& request, const Load& load) const;
  absl::Status CheckMemory(const CheckedRequest& request) const;
  absl::Status CheckDeadline(const CheckedRequest& request, const Load& load) const;
  absl::Status CheckQueue(const CheckedRequest& request, const Load& load, double jitter) const;

  const JobOptions& options_;
  const WorkerRoster& roster_;
  const CostModel& costs_;
};

}  // namespace reel::front
