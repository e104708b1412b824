// SPDX-License-Identifier: Apache-2.0
// A group, which takes 1.9 times less for a video, beside single devices.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/unit/server/front/jobs/scheduler_fixture.h"

namespace reel::front {

class MixedPoolFixture : public SchedulerFixture {
 protected:
  static constexpr double kGain = 1.9;
  static constexpr int64_t kSmallRows = 512, kLongRows = 2048;
  static constexpr double kSmallStep = 0.19, kLongStep = 1.9;  // seconds on a single device
  // Names in whose order workers were taken before costs decided.
  static constexpr char kSingle[] = "a", kOther[] = "b", kGroup[] = "z";
  using Placed = std::multimap<std::string, std::string>;  // worker by prompt

  void AddSingle(const std::string& name = kSingle) { Add(name, "cuda:2 H"); }
  void AddGroup(const std::string& name = kGroup) { Add(name, "cuda:0+cuda:1 2 x H"); }
  // A step of a long video takes 1.9 s on one device, one of a small video 0.19 s.
  void AddBoth(double gain = kGain) {
    AddSingle();
    AddGroup();
    LearnSteps(kSingle, 1);
    LearnSteps(kGroup, gain);
  }
  void LearnSteps(const std::string& worker, double gain) {
    for (const auto& [rows, seconds] :
         {std::pair(kSmallRows, kSmallStep), std::pair(kLongRows, kLongStep)}) {
      StepSample sample;
      sample.model = "card";
      sample.plan = "auto";
      sample.rows = rows;
      sample.job_rows = {rows};
      sample.duration = absl::Seconds(seconds / gain);
      for (int i = 0; i < 10; ++i) scheduler_->Report({worker, {}, Stepped{{sample}, {}, {}}});
    }
  }
  static NewJob Small(const std::string& prompt) {
    NewJob job;
    job.tenant = "t";
    job.spec.prompt = job.spec_sent = prompt;
    return job;
  }
  static NewJob Long(const std::string& prompt) {
    NewJob job = Small(prompt);
    job.spec.width = job.spec.height = 512;
    return job;
  }
  // Long as well, but not as long.
  static NewJob Shorter(const std::string& prompt) {
    NewJob job = Long(prompt);
    job.spec.num_inference_steps = 6;
    return job;
  }
  static NewJob At(const std::string& worker, NewJob job) {
    job.spec.worker = worker;
    return job;
  }
  // What became of those that wait.
  Placed Settled() {
    scheduler_->Settle();
    Placed placed;
    while (pool.num_waiting() > 0) {
      const Sent sent = pool.TakeAssignment();
      sent_.insert_or_assign(sent.assignment.spec.prompt, sent);
      placed.emplace(sent.assignment.spec.prompt, sent.worker);
    }
    return placed;
  }
  Placed Create(NewJob job) {
    CreateOne(std::move(job));
    return Settled();
  }
  void Runs(const std::string& prompt, int steps) {
    const Sent& sent = sent_.at(prompt);
    scheduler_->Report(
        {sent.worker, sent.assignment.ref, JobProgress{model::Stage::kDenoise, steps, 10}});
  }
  void Ends(const std::string& prompt) {
    const Sent& sent = sent_.at(prompt);
    scheduler_->EndAdopted(sent.assignment.ref.job, absl::OkStatus());
    scheduler_->Report(
        {sent.worker, sent.assignment.ref, JobFailed{absl::CancelledError("cancelled"), false}});
  }
  absl::Duration LeftAt(const std::string& worker) {
    return scheduler_->roster().workers().at(worker).Backlog();
  }
  CostEstimate EstimateOf(const NewJob& job) {
    absl::StatusOr<CostEstimate> estimate;
    scheduler_->Estimate(job, [&](auto answer) { estimate = std::move(answer); });
    EXPECT_TRUE(estimate.ok()) << estimate.status();
    return estimate.value_or(CostEstimate());
  }

  std::map<std::string, Sent> sent_;

 private:
  void Add(const std::string& name, const std::string& device) {
    WorkerInfo info = ReadyWorker(name);
    info.device = device;
    scheduler_->WorkerChanged(info);
    scheduler_->Report({name, {}, ModelLoaded{"card", TestCard()}});
  }
};

}  // namespace reel::front
