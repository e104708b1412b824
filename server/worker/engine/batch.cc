// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/batch.h"

#include <algorithm>
#include <utility>

#include "model/pass_work.h"

namespace reel::worker {
namespace {

bool StepsAlone(const HeldJob& job) {
  // Sharing a step is not proven to keep all bytes, so this profile never shares.
  return job.alone || job.plan.profile() == "batch_invariant" || job.steps_alone;
}

bool MayShareStep(const HeldJob& job, const HeldJob& lead) {
  return &job != &lead && !job.parked && job.phase <= Phase::kDenoise &&
         job.pipeline == lead.pipeline && job.plan.name() == lead.plan.name() && !StepsAlone(job);
}

using Members = std::vector<HeldJob*>;

Batch BatchOf(const Members& members) {
  Batch batch;
  batch.jobs = members;
  for (const HeldJob* job : members) {
    batch.job_rows.push_back(job->rows());
    batch.rows += job->rows();
  }
  return batch;
}

SharingGains::Choice ChooseAmong(const Members& members, const Sharing& sharing) {
  const Batch batch = BatchOf(members);
  Sharers sharers = SharersOf(batch);
  absl::Time first_deadline = absl::InfiniteFuture();
  for (const HeldJob* job : members) first_deadline = std::min(first_deadline, job->deadline);
  sharers.slack = first_deadline - sharing.now;
  sharers.more_come = sharing.more_come;
  return sharing.gains->Choose(sharers);
}

Batch FirstOf(const Members& members, size_t jobs) {
  return BatchOf({members.begin(), members.begin() + static_cast<std::ptrdiff_t>(jobs)});
}

// As many from the lead on as gain by sharing; if none do, as many as have the lead's size.
Batch WhoGain(const Members& all, const Sharing& sharing) {
  if (sharing.most_jobs > 0) {
    return FirstOf(all, std::min(all.size(), static_cast<size_t>(sharing.most_jobs)));
  }
  if (sharing.gains == nullptr || all.size() == 1) return BatchOf(all);
  const SharingGains::Choice choice = ChooseAmong(all, sharing);
  Batch batch = FirstOf(all, choice.jobs);
  if (choice.is_look) return batch;
  if (choice.jobs == 1) {
    Members alike = all;
    std::erase_if(alike, [&](const HeldJob* job) { return job->rows() != all.front()->rows(); });
    if (alike.size() < all.size() && alike.size() > 1) {
      batch = FirstOf(alike, ChooseAmong(alike, sharing).jobs);
    }
  }
  batch.could_share = BatchOf(all).job_rows;
  return batch;
}

}  // namespace

bool GoesBefore(const HeldJob& job, const Batch& batch) {
  return std::all_of(batch.jobs.begin(), batch.jobs.end(),
                     [&](const HeldJob* other) { return job.GoesBefore(*other); });
}

Batch PickBatch(const JobTable& jobs, HeldJob& lead, const Sharing& sharing) {
  if (StepsAlone(lead)) return BatchOf({&lead});
  const auto taken = [&](const HeldJob& job) {
    return model::RowsTaken(job.rows(), sharing.fill_rows);
  };
  Members can_step = {&lead}, would_step = {&lead};
  int64_t rows = taken(lead), would_be_rows = rows;
  for (const auto& job : jobs.all()) {
    if (rows >= sharing.fill_rows) break;
    const int64_t its = taken(*job);
    if (!MayShareStep(*job, lead) || rows + its > sharing.fill_rows) continue;
    if (job->CanStep()) {
      can_step.push_back(job.get());
      rows += its;
    } else if (!job->CanMove() || would_be_rows + its > sharing.fill_rows) {
      continue;
    }
    would_step.push_back(job.get());
    would_be_rows += its;
  }
  const Batch would_share = WhoGain(would_step, sharing);
  Batch batch = would_step.size() == can_step.size() ? would_share : WhoGain(can_step, sharing);
  const auto begins = std::find_if(would_share.jobs.begin(), would_share.jobs.end(),
                                   [](const HeldJob* job) { return !job->CanStep(); });
  if (begins != would_share.jobs.end()) batch.not_yet = *begins;
  // Those that are left out would be there if all had begun.
  if (would_share.num_left_out() > 0) batch.could_share = would_share.could_share;
  return batch;
}

Sharers SharersOf(const Batch& batch) {
  const HeldJob& lead = *batch.jobs.front();
  return {lead.spec.model, lead.plan.name(), batch.job_rows};
}

HeldJob* PickPiece(const JobTable& jobs, const Batch& batch) {
  // Otherwise the batch would fall apart.
  if (batch.not_yet != nullptr && batch.not_yet->preview_due) return batch.not_yet;
  bool before_lead = true;
  HeldJob* decodes = nullptr;
  for (const auto& job : jobs.all()) {
    if (!batch.jobs.empty() && job.get() == batch.jobs.front()) before_lead = false;
    if (!job->CanMove() || job->CanStep()) continue;
    // Do not start a job that cannot step yet. Finish decodes first: they free a slot.
    if (before_lead || job.get() == batch.not_yet) return job.get();
    if (job->phase == Phase::kDecode && decodes == nullptr) decodes = job.get();
  }
  return decodes;
}

}  // namespace reel::worker
