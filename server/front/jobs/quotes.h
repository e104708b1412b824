// SPDX-License-Identifier: Apache-2.0
// Checks and prices requests without creating a job.
#pragma once

#include <random>

#include "absl/status/statusor.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/load_figures.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/worker_roster.h"

namespace reel::front {

// The video that a request would create, without an id.
Video NewVideo(const NewJob& request, const CheckedRequest& checked, absl::Time wall);

// Confined to the dispatcher's thread. What it is given outlives it.
class Quotes {
 public:
  Quotes(const Admission& admission, const LoadFigures& load, const Quarantine& quarantine,
         const WorkerRoster& roster, const Clock& clock);

  // Checks the fields, and gives a request without a seed a fresh one.
  absl::StatusOr<CheckedRequest> Check(const NewJob& job);
  // Whether the server can take the request now, and when it would start. Spreads the retry times
  // of refusals.
  absl::StatusOr<Outlook> CheckLoad(const NewJob& job, const CheckedRequest& request);
  // The tenant's bytes to reserve for the file of a request that passed CheckLoad.
  int64_t Reservation(const NewJob& job, const CheckedRequest& request) const;

  absl::StatusOr<Video> Validate(const NewJob& job);
  absl::StatusOr<CostEstimate> Estimate(const NewJob& job);

 private:
  const Admission& admission_;
  const LoadFigures& load_;
  const Quarantine& quarantine_;
  const WorkerRoster& roster_;
  const Clock& clock_;
  std::mt19937_64 random_;
};

}  // namespace reel::front
