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

// Whether they share the next step. `apart`: the first set known to lose by sharing.
bool Share(const Members& members, const Sharing& sharing, std::vector<int64_t>& apart) {
  const Batch batch = BatchOf(members);
  Sharers sharers = SharersOf(batch);
  absl::Time first_deadline = absl::InfiniteFuture();
  for (const HeldJob* job : members) first_deadline = std::min(first_deadline, job->deadline);
  sharers.slack = first_deadline - sharing.now;
  const SharingGains::Advice advice = sharing.gains->Judge(sharers);
  if (advice == SharingGains::Advice::kLose && apart.empty()) apart = batch.job_rows;
  return advice == SharingGains::Advice::kShare;
}

// If a set loses, half of it is tried, and so on: measuring what is unknown costs a few steps.
Members FirstThatShare(Members members, const Sharing& sharing, std::vector<int64_t>& apart) {
  while (members.size() > 1 && !Share(members, sharing, apart)) {
    members.resize((members.size() + 1) / 2);
  }
  return members;
}

// As many from the lead on as gain by sharing; if none do, as many as have the lead's size.
Members WhoGain(const Members& all, const Sharing& sharing, std::vector<int64_t>& apart) {
  if (sharing.most_jobs > 0) {
    const size_t most = std::min(all.size(), static_cast<size_t>(sharing.most_jobs));
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most)};
  }
  if (sharing.gains == nullptr || all.size() == 1) return all;
  Members some = FirstThatShare(all, sharing, apart);
  if (some.size() > 1) return some;
  Members alike = all;
  std::erase_if(alike, [&](const HeldJob* job) { return job->rows() != all.front()->rows(); });
  if (alike.size() == all.size()) return some;
  return FirstThatShare(std::move(alike), sharing, apart);
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
  // Reports as kept apart only jobs that would be there if all had begun.
  std::vector<int64_t> apart;
  const Members would_share = WhoGain(would_step, sharing, apart);
  Batch batch = BatchOf(would_step.size() == can_step.size() ? would_share
                                                             : WhoGain(can_step, sharing, apart));
  const auto begins = std::find_if(would_share.begin(), would_share.end(),
                                   [](const HeldJob* job) { return !job->CanStep(); });
  if (begins != would_share.end()) batch.not_yet = *begins;
  batch.apart = std::move(apart);
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
