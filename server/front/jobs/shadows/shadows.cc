// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/shadows/shadows.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kAttempt = 1;
// Behind every job that a worker may be given beside it.
constexpr double kLastOfAll = 1e15;
constexpr absl::Duration kLongest = absl::Minutes(10);

}  // namespace

bool Shadows::Idle(const PlannedWorker& worker) const {
  return worker.info.state == WorkerState::kReady && !worker.is_dying && worker.held.empty() &&
         worker.loading.empty() && !worker.shadow;
}

bool Shadows::AnyWaits() const {
  return std::any_of(state_.jobs.begin(), state_.jobs.end(),
                     [](const auto& entry) { return entry.second.runnable(); });
}

void Shadows::Tick() {
  std::set<std::string> idle;
  for (const auto& [name, worker] : state_.roster.workers()) {
    if (Idle(worker)) idle.insert(name);
  }
  std::swap(idle, idle_);
  const bool may = comparer_ != nullptr && !running_ && !state_.drain.begun && !AnyWaits() &&
                   !ports_.media.Usage().full();
  if (!may) return;
  for (const std::string& name : idle_) {
    PlannedWorker* worker = idle.contains(name) ? state_.roster.Find(name) : nullptr;
    if (worker == nullptr) continue;
    auto candidate =
        state_.shadow_queue.Take([&](const ShadowCandidate& one) { return Suits(*worker, one); });
    if (candidate) return Begin(*worker, *std::move(candidate));
  }
}

Need Shadows::NeedOf(const ShadowCandidate& candidate) const {
  Need need;
  need.model = candidate.spec.model;
  need.worker = candidate.worker;
  model::KernelSelection kernels;
  kernels.profile = candidate.other.profile;
  admission_.ExpandProfile(kernels, need);
  if (const model::ModelCard* card = state_.roster.FindCard(need.model)) {
    need.shape = ShapeOf(candidate.spec, *card, Admission::PlanName(need));
    need.memory_bytes = state_.costs.PeakMemory(need.shape);
  }
  return need;
}

bool Shadows::Suits(const PlannedWorker& worker, const ShadowCandidate& candidate) const {
  if (candidate.worker != worker.info.name) return false;
  const Need need = NeedOf(candidate);
  return !need.shape.passes.empty() && state_.roster.CheckServed(need.model).ok() &&
         state_.roster.CanTake(worker, need, {});
}

void Shadows::Begin(PlannedWorker& worker, ShadowCandidate candidate) {
  // Its owner may have deleted it.
  if (!ports_.media.Open(candidate.video, candidate.attempt, std::nullopt).ok()) return;
  Need need = NeedOf(candidate);
  need.shape.where = state_.roster.WhereOf(worker, need.model);
  Running running;
  running.id = absl::StrCat(kScratchFile, ++begun_);
  running.worker = worker.info.name;
  Assignment assignment;
  assignment.ref = {running.id, kAttempt, ""};
  assignment.spec = candidate.spec;
  // What was resolved stays: its worker resolves it again, and must come to the same.
  assignment.spec.kernels.profile = need.profile;
  assignment.spec.kernels.variants = need.variants;
  if (!FindAdapters(state_.roster.FindCard(need.model), assignment.spec).ok()) return;
  assignment.spec.preview.every_steps = 0;
  assignment.order_key = kLastOfAll;
  assignment.time_left = kLongest;
  running.candidate = std::move(candidate);
  worker.shadow = ShadowRun{running.id, need.shape};
  running_ = std::move(running);
  ports_.media.Begin(running_->id, kAttempt);
  limits_.Renew(running_->worker);
  ports_.pool.Assign(running_->worker, std::move(assignment));
}

void Shadows::MakeWay() {
  if (!running_ || !running_->renders) return;
  std::set<std::string> free;
  for (const auto& [name, worker] : state_.roster.workers()) {
    if (Idle(worker)) free.insert(name);
  }
  for (const auto& [id, job] : state_.jobs) {
    if (!job.runnable()) continue;
    const auto place = std::find_if(free.begin(), free.end(), [&](const std::string& name) {
      return state_.roster.CanTake(*state_.roster.Find(name), job.need, {});
    });
    if (place == free.end()) return GiveUp();
    free.erase(place);
  }
}

void Shadows::GiveUp() {
  if (!running_ || !running_->renders) return;
  if (PlannedWorker* worker = state_.roster.Find(running_->worker)) {
    slots_.GiveUpShadow(*worker);
  }
}

void Shadows::Leave() {
  running_->renders = false;
  PlannedWorker* worker = state_.roster.Find(running_->worker);
  if (worker == nullptr || !worker->shadow) return;
  running_->given_up = worker->shadow->given_up;
  worker->shadow.reset();
}

void Shadows::On(const JobFinished& finished) {
  Leave();
  const auto seconds = SoloStepSeconds(finished.stats);
  const auto& before = running_->candidate.seconds;
  if (seconds && before) {
    const double ratio = std::log(*seconds / *before);
    running_->log_ratio = running_->candidate.arm == 0 ? ratio : -ratio;
  }
  ports_.media.Finish(running_->id, kAttempt,
                      state_.thread.Here<absl::StatusOr<MediaDigest>>(
                          [this](const auto& digest) { OnDigest(digest); }));
}

void Shadows::OnDigest(const absl::StatusOr<MediaDigest>& digest) {
  ShadowResult result;
  result.log_ratio = running_->log_ratio;
  if (!digest.ok()) return End(std::move(result), digest.status());
  const ShadowCandidate& candidate = running_->candidate;
  if (digest->sha256 == candidate.sha256) {
    result.outcome = ShadowOutcome::kIdentical;
    return End(std::move(result), absl::OkStatus());
  }
  comparer_->Compare(ports_.media.PathOf(candidate.video, candidate.attempt),
                     ports_.media.PathOf(running_->id, kAttempt),
                     state_.thread.Here<absl::StatusOr<FrameDistance>>(
                         [this](const auto& distance) { OnCompared(distance); }));
}

void Shadows::OnCompared(const absl::StatusOr<FrameDistance>& distance) {
  ShadowResult result;
  result.log_ratio = running_->log_ratio;
  if (!distance.ok()) return End(std::move(result), distance.status());
  result.outcome = distance->identical ? ShadowOutcome::kIdentical : ShadowOutcome::kDiffers;
  result.psnr_db = distance->psnr_db;
  result.ssim = distance->ssim;
  End(std::move(result), absl::OkStatus());
}

void Shadows::On(const JobFailed& failed) {
  Leave();
  ShadowResult result;
  if (running_->given_up) result.outcome = ShadowOutcome::kGivenUp;
  End(std::move(result), failed.error);
}

void Shadows::WorkerLost(const std::string& worker) {
  if (!running_ || !running_->renders || running_->worker != worker) return;
  Leave();
  End({}, absl::UnavailableError("its worker was lost"));
}

void Shadows::End(ShadowResult result, const absl::Status& why) {
  ShadowCandidate candidate = std::move(running_->candidate);
  ports_.media.Remove(running_->id, kAttempt, nullptr);
  running_.reset();
  result.experiment = candidate.experiment;
  state_.experiments.Shadowed(result);
  ports_.observer.ShadowEnded(result);
  const bool failed = result.outcome == ShadowOutcome::kFailed;
  std::vector<Field> fields = {{"experiment", result.experiment},
                               {"video", candidate.video},
                               {"arm", candidate.other.name},
                               {"outcome", ShadowOutcomeName(result.outcome)}};
  if (result.outcome == ShadowOutcome::kDiffers) fields.emplace_back("psnr_db", result.psnr_db);
  if (!why.ok()) fields.emplace_back("error", why);
  Log(failed ? LogLevel::kWarning : LogLevel::kInfo, "A shadow render ended", fields);
  if (result.outcome == ShadowOutcome::kGivenUp)
    return state_.shadow_queue.PutBack(std::move(candidate));
  if (state_.shadow_queue.NoteEnd(result.experiment, failed)) {
    Log(LogLevel::kError, "An experiment has no shadow renders any more, since too many failed",
        {{"experiment", result.experiment}});
  }
}

}  // namespace reel::front
