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

// The video that a request would become, without an id.
Video NewVideo(const NewJob& request, const CheckedRequest& checked, absl::Time wall);

// Confined to the dispatcher's thread. What it is given outlives it.
class Quotes {
 public:
  Quotes(const Admission& admission, const LoadFigures& load, const Quarantine& quarantine,
         const WorkerRoster& roster, const Clock& clock);

  // The rules of the fields, with a fresh seed for a request that has none.
  absl::StatusOr<CheckedRequest> Check(const NewJob& job);
  // Whether the server can take it now, and when it would begin. Retries that it asks for are
  // spread.
  absl::StatusOr<Outlook> CheckLoad(const NewJob& job, const CheckedRequest& request);
  // Of the tenant's bytes, for the file of a request that CheckLoad has just let in.
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
