// SPDX-License-Identifier: Apache-2.0
// Chooses the jobs that share a step.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "server/worker/engine/held_job.h"
#include "server/worker/engine/sharing_gains.h"

namespace reel::worker {

struct Batch {
  std::vector<HeldJob*> jobs;  // the lead first
  int64_t rows = 0;
  // The first job that would fit and has another piece to do before it can step.
  HeldJob* not_yet = nullptr;
  std::vector<int64_t> job_rows = {};  // of each job; a generation's next step may have others
  // Rows of the jobs that could share the step, the lead first; more than share it if all would
  // lose by it. Empty: fewer share than would gain, for a measurement.
  std::vector<int64_t> could_share = {};

  size_t num_left_out() const {
    return could_share.size() > jobs.size() ? could_share.size() - jobs.size() : 0;
  }
};

// The limits and measurements that decide who shares a step.
struct Sharing {
  int64_t fill_rows = 0;                // most rows of a shared step; a job alone may have more
  const SharingGains* gains = nullptr;  // null: sharing always gains
  absl::Time now = {};                  // steady
  int most_jobs = 0;                    // fixed batch size; 0: as many as gain
  bool more_come = true;                // see [Sharing]
};

// The piece that may run before the next step of `batch`, null if none: text, conditions, a preview
// or frames.
HeldJob* PickPiece(const JobTable& jobs, const Batch& batch);

// Whether the job, which is not in the batch, goes before all jobs of the batch.
bool GoesBefore(const HeldJob& job, const Batch& batch);

// The jobs that may share a step with `lead`, which can step, in the table's order. They have the
// same model and plan, none is alone, and together they have at most `fill_rows` rows
// (model::RowsTaken); models must share steps. Of these, as many from the first on as gain by
// sharing; if none do, as many as have the lead's size.
Batch PickBatch(const JobTable& jobs, HeldJob& lead, const Sharing& sharing);

// The batch as SharingGains sees it. `batch` must outlive the result.
Sharers SharersOf(const Batch& batch);

}  // namespace reel::worker
