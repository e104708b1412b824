// SPDX-License-Identifier: Apache-2.0
// Which jobs share a step.
#pragma once

#include <cstdint>
#include <vector>

#include "server/worker/engine/held_job.h"

namespace reel::worker {

struct Batch {
  std::vector<HeldJob*> jobs;  // the lead first
  int64_t rows = 0;
  // The first that would fit and has a piece of its own to do first.
  HeldJob* not_yet = nullptr;
  std::vector<int64_t> job_rows = {};  // of each job; a generation's next step may have others
};

// What a model needs before a step or after the last one: text, conditions, a preview, frames. The
// piece that may come before the next step of `batch`; null: none.
HeldJob* PickPiece(const JobTable& jobs, const Batch& batch);

// Whether the job, none of the batch's, goes before all of them.
bool GoesBefore(const HeldJob& job, const Batch& batch);

// The jobs that may be stepped beside `lead`, which can step, in the table's order: same model,
// same plan, of a model that shares steps, none of them alone, at most `fill_rows` rows together
// (the lead alone may have more).
Batch PickBatch(const JobTable& jobs, HeldJob& lead, int64_t fill_rows);

}  // namespace reel::worker
