// SPDX-License-Identifier: Apache-2.0
// Hears all that a pool reports, and lets a test wait for it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Thread-safe. Each report is also a line of `log`, e.g. "progress j1.1 2/3".
class RecordingEvents final : public WorkerEvents {
 public:
  struct Heard {
    std::vector<std::string> log;
    std::map<std::string, WorkerInfo> workers;
    std::vector<model::ModelCard> cards;
    std::vector<std::pair<std::string, LossCause>> losses;
    std::map<std::string, std::string> media;  // by "job.attempt"
    std::vector<std::pair<std::string, absl::Status>> failures;
    std::map<std::string, model::MediaInfo> finished;
    std::vector<StepSample> steps;
  };

  // Blocks until `happened`; the test's own time limit is the bound.
  void WaitUntil(const std::function<bool(const Heard&)>& happened) {
    MutexLock lock(mutex_);
    while (!happened(heard_)) changed_.Wait(mutex_);
  }
  void WaitForLine(const std::string& line) {
    WaitUntil([&](const Heard& heard) { return std::ranges::count(heard.log, line) > 0; });
  }
  void WaitForState(const std::string& worker, WorkerState state) {
    WaitUntil([&](const Heard& heard) {
      const auto found = heard.workers.find(worker);
      return found != heard.workers.end() && found->second.state == state;
    });
  }
  Heard Take() const {
    MutexLock lock(mutex_);
    return heard_;
  }
  // JobMedia blocks while held, as in front of a full disk queue.
  void HoldMedia(bool held) {
    MutexLock lock(mutex_);
    hold_media_ = held;
    changed_.NotifyAll();
  }

  void WorkerChanged(const WorkerInfo& worker) override {
    Note(absl::StrCat("worker ", worker.name, " ", static_cast<int>(worker.state)),
         [&](Heard& heard) { heard.workers[worker.name] = worker; });
  }
  void WorkerLost(const std::string& worker, LossCause cause) override {
    Note(absl::StrCat("lost ", worker, " ", static_cast<int>(cause)),
         [&](Heard& heard) { heard.losses.emplace_back(worker, cause); });
  }
  void ModelLoaded(const std::string& worker, const model::ModelCard& card) override {
    Note(absl::StrCat("model ", worker, " ", card.name),
         [&](Heard& heard) { heard.cards.push_back(card); });
  }
  void ModelFailed(const std::string& worker, const std::string& model,
                   const absl::Status& error) override {
    Note(absl::StrCat("model failed ", worker, " ", model),
         [&](Heard& heard) { heard.failures.emplace_back(model, error); });
  }
  void JobProgress(const std::string& job, int attempt, model::Stage, int step,
                   int num_steps) override {
    Note(absl::StrCat("progress ", job, ".", attempt, " ", step, "/", num_steps));
  }
  void JobPreview(const std::string& job, int attempt, int step, std::string jpeg, int,
                  int) override {
    Note(absl::StrCat("preview ", job, ".", attempt, " ", step, " ", jpeg));
  }
  void JobMedia(const std::string& job, int attempt, int64_t offset, std::string bytes,
                bool fragment_end) override {
    {
      MutexLock lock(mutex_);
      while (hold_media_) changed_.Wait(mutex_);
    }
    const std::string key = absl::StrCat(job, ".", attempt);
    Note(absl::StrCat("media ", key, " ", offset, "+", bytes.size(), fragment_end ? " end" : ""),
         [&](Heard& heard) { heard.media[key] += bytes; });
  }
  void JobFinished(const std::string& job, int attempt, model::RunStats, model::MediaInfo media,
                   std::vector<model::Notice>) override {
    const std::string key = absl::StrCat(job, ".", attempt);
    Note(absl::StrCat("finished ", key), [&](Heard& heard) { heard.finished[key] = media; });
  }
  void JobFailed(const std::string& job, int attempt, const absl::Status& error,
                 bool suspect) override {
    Note(absl::StrCat("failed ", job, ".", attempt, suspect ? " suspect" : ""),
         [&](Heard& heard) { heard.failures.emplace_back(job, error); });
  }
  void Stepped(const std::string& worker, StepSample sample) override {
    Note(absl::StrCat("stepped ", worker),
         [&](Heard& heard) { heard.steps.push_back(std::move(sample)); });
  }

 private:
  void Note(std::string line, const std::function<void(Heard&)>& change = nullptr) {
    MutexLock lock(mutex_);
    heard_.log.push_back(std::move(line));
    if (change) change(heard_);
    changed_.NotifyAll();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  Heard heard_ ABSL_GUARDED_BY(mutex_);
  bool hold_media_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
