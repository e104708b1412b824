// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/held_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reel::worker {

bool HeldJob::CanMove() const {
  if (parked || in_step || phase == Phase::kEncode) return false;
  if (conditions != nullptr && !conditions->done()) return false;
  return phase != Phase::kDecode || encoder == nullptr || encoder->HasRoom();
}

void HeldJob::ChoosePhase() {
  const bool may_wait = !has_steps_left();
  const bool has_room = encoder == nullptr || encoder->HasRoom();
  phase = generation->has_frames() && (has_room || may_wait) ? Phase::kDecode : Phase::kDenoise;
}

model::Stage HeldJob::next_of_decode() const {
  const bool sounds = encoder->TakesSound() && generation->has_sound();
  return sounds ? model::Stage::kSound : model::Stage::kDecode;
}

model::RunPart HeldJob::waits_in() const {
  if (parked) return model::RunPart::kParked;
  if (conditions != nullptr && !conditions->done()) return model::RunPart::kConditions;
  const bool encodes = phase == Phase::kEncode || (phase == Phase::kDecode && !CanMove());
  return encodes ? model::RunPart::kEncode : model::RunPart::kWait;
}

void JobTable::Add(std::unique_ptr<HeldJob> job) {
  job->arrival = arrivals_++;
  jobs_.push_back(std::move(job));
  Sort();
}

void JobTable::Reorder(HeldJob& job, double order_key) {
  job.order_key = order_key;
  Sort();
}

void JobTable::Sort() {
  // NaN cannot be ordered.
  for (auto& job : jobs_) {
    if (std::isnan(job->order_key)) job->order_key = 0;
  }
  std::sort(jobs_.begin(), jobs_.end(),
            [](const auto& a, const auto& b) { return a->GoesBefore(*b); });
}

std::unique_ptr<HeldJob> JobTable::Remove(const HeldJob& job) {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const auto& held) { return held.get() == &job; });
  if (found == jobs_.end()) return nullptr;
  std::unique_ptr<HeldJob> removed = std::move(*found);
  jobs_.erase(found);
  return removed;
}

HeldJob* JobTable::Find(const std::string& job) const {
  for (const auto& held : jobs_) {
    if (held->ref.job == job) return held.get();
  }
  return nullptr;
}

HeldJob* JobTable::FirstThatCanMove() const {
  for (const auto& held : jobs_) {
    if (held->CanMove()) return held.get();
  }
  return nullptr;
}

HeldJob* JobTable::FirstThatCanStep() const {
  for (const auto& held : jobs_) {
    if (held->CanStep()) return held.get();
  }
  return nullptr;
}

bool JobTable::Uses(const model::Pipeline* pipeline) const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& held) { return held->pipeline == pipeline; });
}

bool JobTable::AnyHasStepped() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& held) {
    return held->generation != nullptr && held->generation->step() > 0;
  });
}

absl::Time JobTable::FirstDeadline() const {
  absl::Time first = absl::InfiniteFuture();
  for (const auto& held : jobs_) first = std::min(first, held->deadline);
  return first;
}

}  // namespace reel::worker
