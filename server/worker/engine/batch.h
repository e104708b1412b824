// SPDX-License-Identifier: Apache-2.0
// Chooses the jobs that share a step.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "server/worker/engine/company_gains.h"
#include "server/worker/engine/held_job.h"

namespace reel::worker {

struct Batch {
  std::vector<HeldJob*> jobs;  // the lead first
  int64_t rows = 0;
  // The first that would fit and has a piece of its own to do first.
  HeldJob* not_yet = nullptr;
  std::vector<int64_t> job_rows = {};  // of each job; a generation's next step may have others
  // Of those that could step together and would lose by it, so that these do without some; empty:
  // nobody is left out for that.
  std::vector<int64_t> apart = {};
};

// What decides who shares a step.
struct Sharing {
  int64_t fill_rows = 0;                // most rows together; one alone may have more
  const CompanyGains* gains = nullptr;  // null: all gain by it
  absl::Time now = {};                  // steady
  int most_jobs = 0;                    // so many, whatever they gain; 0: as many as gain
};

// What a model needs before a step or after the last one: text, conditions, a preview, frames. The
// piece that may come before the next step of `batch`; null: none.
HeldJob* PickPiece(const JobTable& jobs, const Batch& batch);

// Whether the job, none of the batch's, goes before all of them.
bool GoesBefore(const HeldJob& job, const Batch& batch);

// The jobs that may be stepped beside `lead`, which can step, in the table's order: same model,
// same plan, of a model that shares steps, none of them alone, at most `fill_rows` rows together
// (model::RowsTaken), and those that gain by it: as many as do from the first on, else as many as
// are of the lead's size.
Batch PickBatch(const JobTable& jobs, HeldJob& lead, const Sharing& sharing);

// The batch as those who judge it see it; it outlives the answer.
Company CompanyOf(const Batch& batch);

}  // namespace reel::worker
