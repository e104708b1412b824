// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/batch.h"

#include <algorithm>

namespace reel::worker {
namespace {

bool StepsAlone(const HeldJob& job) {
  // Equal bytes in company are unproven, so that profile means: not in company.
  return job.alone || job.plan.profile() == "batch_invariant" || job.steps_alone;
}

bool MayShareStep(const HeldJob& job, const HeldJob& lead) {
  return &job != &lead && !job.parked && job.phase <= Phase::kDenoise &&
         job.pipeline == lead.pipeline && job.plan.name() == lead.plan.name() && !StepsAlone(job);
}

}  // namespace

bool GoesBefore(const HeldJob& job, const Batch& batch) {
  return std::all_of(batch.jobs.begin(), batch.jobs.end(),
                     [&](const HeldJob* other) { return job.GoesBefore(*other); });
}

Batch PickBatch(const JobTable& jobs, HeldJob& lead, int64_t fill_rows) {
  Batch batch{{&lead}, lead.generation->rows(), nullptr, {lead.generation->rows()}};
  if (StepsAlone(lead)) return batch;
  for (const auto& job : jobs.all()) {
    if (batch.rows >= fill_rows) break;
    if (!MayShareStep(*job, lead)) continue;
    const int64_t rows = job->rows();
    if (batch.rows + rows > fill_rows) continue;
    if (!job->CanStep()) {
      if (batch.not_yet == nullptr && job->CanMove()) batch.not_yet = job.get();
      continue;
    }
    batch.jobs.push_back(job.get());
    batch.job_rows.push_back(rows);
    batch.rows += rows;
  }
  return batch;
}

HeldJob* PickPiece(const JobTable& jobs, const Batch& batch) {
  // Or the batch would fall apart.
  if (batch.not_yet != nullptr && batch.not_yet->preview_due) return batch.not_yet;
  bool before_lead = true;
  HeldJob* decodes = nullptr;
  for (const auto& job : jobs.all()) {
    if (!batch.jobs.empty() && job.get() == batch.jobs.front()) before_lead = false;
    if (!job->CanMove() || job->CanStep()) continue;
    // To begin what would not step now helps nobody; what only decodes frees its place.
    if (before_lead || job.get() == batch.not_yet) return job.get();
    if (job->phase == Phase::kDecode && decodes == nullptr) decodes = job.get();
  }
  return decodes;
}

}  // namespace reel::worker
