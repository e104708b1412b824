// SPDX-License-Identifier: Apache-2.0
// Remembers everything that an engine says, and can hold the encoder's thread of a job.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/worker/engine/engine.h"
#include "tests/unit/server/worker/engine/watched_values.h"

namespace reel::worker {

class RecordingEvents : public EngineEvents, private WatchedValues {
 public:
  struct Ended {
    JobRef ref;
    absl::Status error;  // OK: finished
    bool suspect = false, device_lost = false;
    JobFinished result;
    int told = 0;  // times
  };
  using ProgressHook = std::function<void(const JobRef&, model::Stage, int step)>;

  // Called on the engine's thread with no lock held; set before the engine runs.
  ProgressHook on_progress;

  void Report(WorkerReport report) override {
    std::visit([&](auto& event) { On(report.ref, event); }, report.event);
  }
  void DeviceLost(const absl::Status& error) override {
    Change([&] { device_lost_ = error; });
  }
  void Drained() override {
    Change([&] { drained_ = true; });
  }

  // Media of this job waits until it is released.
  void Hold(const std::string& job) {
    Change([&] { held_.insert(job); });
  }
  void ReleaseAll() {
    Change([&] { held_.clear(); });
  }

  // False after a minute: something that had to come did not.
  bool WaitForEnd(const std::string& job) {
    return Wait([&] { return ended_.count(job) != 0; });
  }
  bool WaitForHeldMedia(const std::string& job) {
    return Wait([&] { return held_now_.count(job) != 0; });
  }
  bool WaitForModel(const std::string& model) {
    return Wait([&] { return cards_.count(model) + model_errors_.count(model) != 0; });
  }
  bool WaitForKnown(const std::string& model) {
    return Wait([&] { return known_.count(model) != 0; });
  }
  // Of a load beside jobs.
  bool WaitForRevision(int64_t revision) {
    return Wait([&] { return answered_.count(revision) != 0; });
  }
  bool has_answered(int64_t revision) {
    MutexLock lock(mutex_);
    return answered_.count(revision) != 0;
  }
  bool WaitForFragments(const std::string& job, int fragments) {
    return Wait([&] { return fragments_[job] >= fragments; });
  }
  bool WaitForParked(const std::string& job) {
    return Wait([&] { return parked_.count(job) != 0; });
  }
  bool WaitForStep(const std::string& job, int step) {
    return Wait([&] {
      for (const auto& [stage, done] : progress_[job]) {
        if (stage == model::Stage::kDenoise && done >= step) return true;
      }
      return false;
    });
  }

  // Snapshots.
  Ended ended(const std::string& job) {
    MutexLock lock(mutex_);
    return ended_.at(job);
  }
  bool has_ended(const std::string& job) {
    MutexLock lock(mutex_);
    return ended_.count(job) != 0;
  }
  std::string file(const std::string& job) { return Of(files_, job); }
  std::string state(const std::string& job) { return Of(states_, job); }
  // As it said last; -1: it was not parked.
  int64_t parked_bytes(const std::string& job) {
    MutexLock lock(mutex_);
    return parked_.count(job) != 0 ? parked_[job] : -1;
  }
  int fragments(const std::string& job) { return Of(fragments_, job); }
  std::vector<std::pair<model::Stage, int>> progress(const std::string& job) {
    return Of(progress_, job);
  }
  std::vector<JobPreview> previews(const std::string& job) { return Of(previews_, job); }
  // Of the denoising stage.
  std::vector<StepSample> steps() {
    MutexLock lock(mutex_);
    std::vector<StepSample> denoise;
    for (const StepSample& step : steps_) {
      if (step.stage == model::Stage::kDenoise) denoise.push_back(step);
    }
    return denoise;
  }
  int timed_pieces(const std::string& job, model::Stage stage) {
    MutexLock lock(mutex_);
    int timed = 0;
    for (const StepSample& step : steps_) {
      const bool is_its = std::find(step.jobs.begin(), step.jobs.end(), job) != step.jobs.end();
      timed += is_its && step.stage == stage && !step.kernels.empty() ? 1 : 0;
    }
    return timed;
  }
  // One for each report.
  std::vector<model::DeviceMemory> memory() {
    MutexLock lock(mutex_);
    return memory_;
  }
  bool WaitForMemory(int64_t held) {
    return Wait([&] { return !memory_.empty() && memory_.back().held == held; });
  }
  std::optional<absl::Status> device_lost() {
    MutexLock lock(mutex_);
    return device_lost_;
  }
  absl::Status model_error(const std::string& model) { return Of(model_errors_, model); }
  model::ModelCard card(const std::string& model) { return Of(cards_, model); }
  model::ModelCard known(const std::string& model) { return Of(known_, model); }
  // Of the model that was loaded last.
  std::vector<WarmedUp> warm_ups() {
    MutexLock lock(mutex_);
    return warm_ups_;
  }
  bool drained() {
    MutexLock lock(mutex_);
    return drained_;
  }
  bool contiguous() {
    MutexLock lock(mutex_);
    return contiguous_;
  }

 private:
  void On(const JobRef&, ModelLoaded& loaded) {
    Change([&] {
      cards_[loaded.model] = loaded.card;
      warm_ups_ = loaded.warm_ups;
      answered_.insert(loaded.revision);
    });
  }
  void On(const JobRef&, ModelKnown& known) {
    Change([&] { known_[known.model] = known.card; });
  }
  void On(const JobRef&, ModelFailed& failed) {
    Change([&] {
      model_errors_[failed.model] = failed.error;
      answered_.insert(failed.revision);
    });
  }
  void On(const JobRef&, Stepped& stepped) {
    Change([&] {
      for (StepSample& step : stepped.steps) steps_.push_back(std::move(step));
      memory_.push_back(stepped.memory);
    });
  }
  void On(const JobRef& ref, JobProgress& progress) {
    Change([&] { progress_[ref.job].emplace_back(progress.stage, progress.step); });
    if (on_progress) on_progress(ref, progress.stage, progress.step);
  }
  void On(const JobRef& ref, JobPreview& preview) {
    Change([&] { previews_[ref.job].push_back(std::move(preview)); });
  }
  void On(const JobRef& ref, JobMedia& media) {
    MutexLock lock(mutex_);
    held_now_.insert(ref.job);
    changed_.NotifyAll();
    while (held_.count(ref.job) != 0) changed_.Wait(mutex_);
    held_now_.erase(ref.job);
    std::string& file = files_[ref.job];
    contiguous_ = contiguous_ && media.offset == static_cast<int64_t>(file.size());
    file += media.bytes;
    if (media.fragment_end) ++fragments_[ref.job];
    changed_.NotifyAll();
  }
  void On(const JobRef& ref, JobState& state) {
    Change([&] {
      std::string& file = states_[ref.job];
      contiguous_ = contiguous_ && state.offset == static_cast<int64_t>(file.size()) &&
                    ended_.count(ref.job) == 0;
      file += state.bytes;
    });
  }
  void On(const JobRef& ref, JobParked& parked) {
    Change([&] { parked_[ref.job] = parked.device_bytes; });
  }
  void On(const JobRef& ref, JobFinished& finished) {
    End({ref, absl::OkStatus(), false, false, std::move(finished)});
  }
  void On(const JobRef& ref, JobFailed& failed) {
    End({ref, failed.error, failed.suspect, failed.device_lost, {}});
  }
  void On(const JobRef&, KernelsListed&) {}

  void End(Ended ended) {
    Change([&] {
      ended.told = ended_[ended.ref.job].told + 1;
      ended_[ended.ref.job] = std::move(ended);
    });
  }
  std::map<std::string, model::ModelCard> cards_, known_;
  std::vector<WarmedUp> warm_ups_;
  std::map<std::string, absl::Status> model_errors_;
  std::set<int64_t> answered_;  // revisions
  std::map<std::string, std::vector<std::pair<model::Stage, int>>> progress_;
  std::map<std::string, std::vector<JobPreview>> previews_;
  std::map<std::string, std::string> files_, states_;
  std::map<std::string, int> fragments_;
  std::map<std::string, Ended> ended_;
  std::vector<StepSample> steps_;
  std::vector<model::DeviceMemory> memory_;
  std::set<std::string> held_, held_now_;
  std::map<std::string, int64_t> parked_;  // bytes on the device
  std::optional<absl::Status> device_lost_;
  bool drained_ = false;
  bool contiguous_ = true;
};

}  // namespace reel::worker
