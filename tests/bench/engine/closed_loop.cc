// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/closed_loop.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/worker/engine/inbox.h"

namespace reel::worker {

absl::StatusOr<model::ModelCard> ClosedLoop::AwaitModel() {
  MutexLock lock(mutex_);
  while (!card_.has_value()) changed_.Wait(mutex_);
  return *card_;
}

absl::StatusOr<LoopResult> ClosedLoop::Run(const Loop& loop, const Post& post) {
  MutexLock lock(mutex_);
  loop_ = loop;
  post_ = post;
  result_ = {};
  ended_ = 0;
  began_ = SteadyNow();
  for (int i = 0; i < loop.in_flight; ++i) PostNext();
  while (!running_.empty()) changed_.Wait(mutex_);
  if (!error_.ok()) return error_;
  result_.seconds = absl::ToDoubleSeconds(stopped_ - began_);
  return std::move(result_);
}

void ClosedLoop::PostNext() {
  Assignment job;
  job.ref.job = absl::StrCat("job", posted_);
  job.spec = loop_.spec;
  job.spec.seed = posted_;
  job.order_key = static_cast<double>(posted_++);
  running_.insert(job.ref.job);
  post_(std::move(job));
}

void ClosedLoop::End(const std::string& job, const absl::Status& error) {
  running_.erase(job);
  const bool is_last = ended_ + 1 == loop_.warm_up + loop_.videos;
  ++ended_;
  if (ended_ == loop_.warm_up) began_ = SteadyNow();
  if (is_last) {
    stopped_ = SteadyNow();
    for (const std::string& left : running_) post_(CancelJob{left});
  }
  const bool goes_on = ended_ < loop_.warm_up + loop_.videos;
  if (goes_on && !error.ok()) error_ = error;
  if (goes_on && error_.ok()) PostNext();
  changed_.NotifyAll();
}

void ClosedLoop::Report(WorkerReport report) {
  MutexLock lock(mutex_);
  if (const auto* loaded = std::get_if<ModelLoaded>(&report.event)) card_ = loaded->card;
  if (const auto* failed = std::get_if<ModelFailed>(&report.event)) card_ = failed->error;
  if (std::holds_alternative<JobFinished>(report.event)) End(report.ref.job, absl::OkStatus());
  if (const auto* failed = std::get_if<JobFailed>(&report.event))
    End(report.ref.job, failed->error);
  if (const auto* stepped = std::get_if<Stepped>(&report.event); stepped != nullptr && counts()) {
    for (const StepSample& step : stepped->steps) {
      if (step.stage != model::Stage::kDenoise) continue;
      result_.order.push_back(step.jobs.size());
      result_.steps_ms[step.jobs.size()].push_back(absl::ToDoubleMilliseconds(step.duration));
    }
  }
  changed_.NotifyAll();
}

void ClosedLoop::DeviceLost(const absl::Status& error) {
  MutexLock lock(mutex_);
  error_ = error;
  running_.clear();
  changed_.NotifyAll();
}

}  // namespace reel::worker
