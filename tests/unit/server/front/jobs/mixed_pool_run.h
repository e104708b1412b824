// SPDX-License-Identifier: Apache-2.0
// A pool of several kinds that works: each worker steps what it holds in its order, one video at a
// time, by the test's clock.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/jobs/mixed_pool_fixture.h"

namespace reel::front {

class MixedPoolRun : public MixedPoolFixture {
 protected:
  void SetUp() override {
    options.other_tenants.max_jobs = options.max_queued_jobs = 1000;
    options.default_timeout = options.max_timeout = absl::Hours(10);
    options.max_backlog_seconds = 1e6;
    SchedulerFixture::SetUp();
  }
  // As many workers of each kind as are wanted.
  void AddPool(double gain, int singles = 2) {
    gain_ = gain;
    AddBoth(gain);
    for (int i = 1; i < singles; ++i) AddSingle(absl::StrCat(kOther, i));
  }
  void Queue(const NewJob& job) {
    CreateOne(job);
    Work();
  }
  // One step of whoever is through first. False: nothing moves.
  bool Step() {
    auto first = std::min_element(
        running_.begin(), running_.end(),
        [](const auto& a, const auto& b) { return a.second.step_ends < b.second.step_ends; });
    if (first == running_.end()) return false;
    clock.Advance(std::max(first->second.step_ends - clock.Monotonic(), absl::ZeroDuration()));
    Stepping& now = first->second;
    const std::string prompt = now.prompt;
    if (++done_[prompt] == sent_.at(prompt).assignment.spec.num_inference_steps) {
      Ends(prompt);
      ended_[prompt] = clock.Monotonic();
      running_.erase(first);
    } else {
      Runs(prompt, done_[prompt]);
      if (HeldOf(first->first, prompt).parked()) {
        scheduler_->Report(
            {first->first, sent_.at(prompt).assignment.ref, JobParked{.device_bytes = 1}});
        running_.erase(first);
      } else {
        now.step_ends += StepTime(first->first, prompt);
      }
    }
    Work();
    return true;
  }
  void RunUntilEnded(size_t count) {
    while (ended_.size() < count && Step()) {
    }
  }
  bool HasStarted(const std::string& prompt) const { return began_.contains(prompt); }

  std::map<std::string, absl::Duration> began_, ended_;  // by prompt
  std::map<std::string, std::string> ran_at_;            // worker by prompt

 private:
  struct Stepping {
    std::string prompt;
    absl::Duration step_ends;
  };

  // What is due is looked at, and workers that have nothing to step begin the first that they hold.
  void Work() {
    scheduler_->RunTimers();
    Settled();
    for (const auto& [name, worker] : scheduler_->fleet().workers()) {
      if (running_.contains(name)) continue;
      const std::string prompt = FirstAt(worker);
      if (prompt.empty()) continue;
      began_.try_emplace(prompt, clock.Monotonic());
      ran_at_[prompt] = name;
      running_[name] = {prompt, clock.Monotonic() + StepTime(name, prompt)};
      Runs(prompt, done_[prompt]);
    }
    Settled();
  }
  std::string FirstAt(const FleetWorker& worker) const {
    std::string first;
    double least = 0;
    for (const auto& [prompt, sent] : sent_) {
      const auto held = worker.held.find(sent.assignment.ref.job);
      if (held == worker.held.end() || held->second.parked() || ended_.contains(prompt)) continue;
      if (!first.empty() && held->second.order_key >= least) continue;
      first = prompt;
      least = held->second.order_key;
    }
    return first;
  }
  const HeldJob& HeldOf(const std::string& worker, const std::string& prompt) const {
    return scheduler_->fleet().workers().at(worker).held.at(sent_.at(prompt).assignment.ref.job);
  }
  absl::Duration StepTime(const std::string& worker, const std::string& prompt) const {
    const bool is_long = sent_.at(prompt).assignment.spec.width == 512;
    return absl::Seconds((is_long ? kLongStep : kSmallStep) / (worker == kGroup ? gain_ : 1));
  }

  double gain_ = kGain;
  std::map<std::string, int> done_;          // steps, by prompt
  std::map<std::string, Stepping> running_;  // by worker
};

}  // namespace reel::front
