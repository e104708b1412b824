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
  void Report(WorkerReport report) override {
    std::visit([&](auto& event) { On(report, event); }, report.event);
  }

 private:
  static std::string Key(const WorkerReport& from) {
    return absl::StrCat(from.ref.job, ".", from.ref.attempt);
  }
  void On(const WorkerReport& from, ModelLoaded& loaded) {
    Note(absl::StrCat("model ", from.worker, " ", loaded.card.name),
         [&](Heard& heard) { heard.cards.push_back(loaded.card); });
  }
  void On(const WorkerReport& from, ModelKnown& known) {
    Note(absl::StrCat("model known ", from.worker, " ", known.card.name));
  }
  void On(const WorkerReport& from, ModelFailed& failed) {
    Note(absl::StrCat("model failed ", from.worker, " ", failed.model),
         [&](Heard& heard) { heard.failures.emplace_back(failed.model, failed.error); });
  }
  void On(const WorkerReport& from, Stepped& stepped) {
    for (StepSample& sample : stepped.steps) {
      Note(absl::StrCat("stepped ", from.worker),
           [&](Heard& heard) { heard.steps.push_back(std::move(sample)); });
    }
  }
  void On(const WorkerReport& from, JobProgress& progress) {
    Note(absl::StrCat("progress ", Key(from), " ", progress.step, "/", progress.num_steps));
  }
  void On(const WorkerReport& from, JobPreview& preview) {
    Note(absl::StrCat("preview ", Key(from), " ", preview.step, " ", preview.jpeg));
  }
  void On(const WorkerReport& from, JobMedia& media) {
    {
      MutexLock lock(mutex_);
      while (hold_media_) changed_.Wait(mutex_);
    }
    const std::string key = Key(from);
    Note(absl::StrCat("media ", key, " ", media.offset, "+", media.bytes.size(),
                      media.fragment_end ? " end" : ""),
         [&](Heard& heard) { heard.media[key] += media.bytes; });
  }
  void On(const WorkerReport& from, JobFinished& finished) {
    const std::string key = Key(from);
    Note(absl::StrCat("finished ", key),
         [&](Heard& heard) { heard.finished[key] = finished.media; });
  }
  void On(const WorkerReport& from, JobFailed& failed) {
    Note(absl::StrCat("failed ", Key(from), failed.suspect ? " suspect" : ""),
         [&](Heard& heard) { heard.failures.emplace_back(from.ref.job, failed.error); });
  }
  void On(const WorkerReport&, JobState&) {}
  void On(const WorkerReport&, KernelsListed&) {}
  void On(const WorkerReport&, JobParked&) {}

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
