// SPDX-License-Identifier: Apache-2.0
// jobs/ as a script: a test makes videos live and die by hand, and sees what it was asked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "server/errors/error.h"
#include "tests/fakes/fake_files.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {

// Thread-safe. Answers at once, on the asking thread, unless `hold_creates` is set.
class FakeJobService : public FakeFileDoor {
 public:
  struct Left {
    std::string id;
    LeaveReason reason;
  };

  // The video that the next Create or Find will hand out.
  std::shared_ptr<ScriptedJob> Add(const std::string& id, const std::string& tenant = "default") {
    Video video;
    video.id = id;
    video.tenant = tenant;
    video.create_time = absl::FromUnixSeconds(1'700'000'000);
    auto job = std::make_shared<ScriptedJob>(video);
    MutexLock lock(mutex_);
    jobs_[id] = job;
    next_ = job;
    return job;
  }

  // All those that were added, where several are asked for.
  void CreateAll(NewJob job, Answer<Jobs> done) override {
    absl::StatusOr<Jobs> answer;
    {
      MutexLock lock(mutex_);
      created_.push_back(std::move(job));
      changed_.NotifyAll();
      if (hold_creates_) {
        held_.push_back(std::move(done));
        return;
      }
      answer = CreateAnswer(created_.back().count > 1);
    }
    done(std::move(answer));
  }
  void Validate(NewJob job, Answer<Video> done) override {
    Quoted(job);
    Video video;
    video.spec = job.spec;
    done(refusal().ok() ? absl::StatusOr<Video>(video) : refusal());
  }
  void Estimate(NewJob job, Answer<CostEstimate> done) override {
    Quoted(job);
    CostEstimate estimate;
    estimate.spec = job.spec;
    estimate.queue = absl::Seconds(1);
    estimate.run_p50 = absl::Milliseconds(1500);
    estimate.refusal = refusal();
    estimate.latent_tokens = 7;
    done(estimate);
  }
  void Leave(const std::string& id, LeaveReason reason) override {
    MutexLock lock(mutex_);
    left_.push_back({id, reason});
    changed_.NotifyAll();
  }
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) override {
    done(Lookup(reach, id));
  }
  void List(ListQuery query, Answer<ListPage> done) override {
    ListPage page;
    {
      MutexLock lock(mutex_);
      queries_.push_back(query);
      page = page_;
    }
    done(page);
  }
  void Cancel(const Reach& reach, const std::string& id, Answer<Video> done) override {
    auto job = Lookup(reach, id);
    done(job.ok() ? absl::StatusOr<Video>((*job)->Snapshot()) : job.status());
  }
  void Delete(const Reach& reach, const std::string& id,
              absl::AnyInvocable<void(absl::Status)> done) override {
    done(Lookup(reach, id).status());
  }

  void LoadModel(const std::string& model, Answer<ServedModel> done) override {
    Change(model, ModelState::kLoading, std::move(done));
  }
  void UnloadModel(const std::string& model, Answer<ServedModel> done) override {
    Change(model, ModelState::kUnloaded, std::move(done));
  }
  // Every name is a worker's that is out.
  void RestoreWorker(const std::string& worker, Answer<WorkerInfo> done) override {
    WorkerInfo info;
    info.name = worker;
    info.state = WorkerState::kOut;
    info.out = OutReason::kDevice;
    done(refusal().ok() ? absl::StatusOr<WorkerInfo>(info) : refusal());
  }

  std::vector<ServedModel> Models() const override {
    MutexLock lock(mutex_);
    return models_;
  }
  std::vector<WorkerInfo> Workers() const override {
    MutexLock lock(mutex_);
    return workers_;
  }
  int Running(const std::string&) const override { return 1; }
  std::vector<std::string> KernelProfiles() const override { return {"auto", "reference", "fp8"}; }
  const std::string& ReplicaName() const override { return replica_; }
  std::vector<std::string> LossyKernelProfiles() const override { return {"fp8"}; }
  std::vector<ExperimentReport> Experiments() const override {
    MutexLock lock(mutex_);
    return experiments_;
  }
  bool draining() const override { return false; }
  bool admitting() const override { return true; }

  // The script's knobs.
  void Refuse(const absl::Status& status) {
    MutexLock lock(mutex_);
    refusal_ = status;
  }
  void HoldCreates() {
    MutexLock lock(mutex_);
    hold_creates_ = true;
  }
  void ReleaseCreates() {
    std::vector<Answer<Jobs>> held;
    absl::StatusOr<Jobs> answer;
    {
      MutexLock lock(mutex_);
      hold_creates_ = false;
      held.swap(held_);
      answer = CreateAnswer();
    }
    for (auto& done : held) done(answer);
  }
  void SetPage(ListPage page) {
    MutexLock lock(mutex_);
    page_ = std::move(page);
  }
  void SetExperiments(std::vector<ExperimentReport> experiments) {
    MutexLock lock(mutex_);
    experiments_ = std::move(experiments);
  }
  void SetModels(std::vector<ServedModel> models) {
    MutexLock lock(mutex_);
    models_ = std::move(models);
  }
  void SetWorkers(std::vector<WorkerInfo> workers) {
    MutexLock lock(mutex_);
    workers_ = std::move(workers);
  }

  // What was asked.
  NewJob WaitForCreate() {
    MutexLock lock(mutex_);
    while (created_.empty()) changed_.Wait(mutex_);
    NewJob job = std::move(created_.front());
    created_.erase(created_.begin());
    return job;
  }
  // The latest job that Validate or Estimate got.
  NewJob last_quoted() const {
    MutexLock lock(mutex_);
    return quoted_.back();
  }
  Left WaitForLeave() {
    MutexLock lock(mutex_);
    while (left_.empty()) changed_.Wait(mutex_);
    return left_.front();
  }
  size_t leaves() const {
    MutexLock lock(mutex_);
    return left_.size();
  }
  ListQuery last_query() const {
    MutexLock lock(mutex_);
    return queries_.back();
  }

 private:
  void Change(const std::string& model, ModelState state, Answer<ServedModel> done) {
    ServedModel served;
    served.card.name = model, served.state = state;
    if (model != "none" && refusal().ok()) return done(served);
    done(model == "none" ? MakeError(Reason::kModelNotFound, "No such model") : refusal());
  }
  void Quoted(const NewJob& job) {
    MutexLock lock(mutex_);
    quoted_.push_back(job);
  }
  absl::Status refusal() const override {
    MutexLock lock(mutex_);
    return refusal_;
  }
  absl::StatusOr<Jobs> CreateAnswer(bool several = false) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!refusal_.ok()) return refusal_;
    Jobs jobs = {next_};
    if (several) jobs.clear();
    for (const auto& [id, job] : jobs_) {
      if (several) jobs.push_back(job);
    }
    return jobs;
  }
  absl::StatusOr<std::shared_ptr<Job>> Lookup(const Reach& reach, const std::string& id) const {
    MutexLock lock(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || !reach.Covers(found->second->Snapshot().tenant)) {
      ErrorDetails details;
      details.resource_type = "video";
      details.resource_name = "videos/" + id;
      return MakeError(Reason::kVideoNotFound, "No such video", details);
    }
    return std::shared_ptr<Job>(found->second);
  }

  const std::string replica_ = "lab";
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::shared_ptr<ScriptedJob>> jobs_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<ScriptedJob> next_ ABSL_GUARDED_BY(mutex_);
  std::vector<NewJob> created_ ABSL_GUARDED_BY(mutex_);
  std::vector<NewJob> quoted_ ABSL_GUARDED_BY(mutex_);
  std::vector<Left> left_ ABSL_GUARDED_BY(mutex_);
  std::vector<ListQuery> queries_ ABSL_GUARDED_BY(mutex_);
  std::vector<Answer<Jobs>> held_ ABSL_GUARDED_BY(mutex_);
  std::vector<ExperimentReport> experiments_ ABSL_GUARDED_BY(mutex_);
  std::vector<ServedModel> models_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkerInfo> workers_ ABSL_GUARDED_BY(mutex_);
  ListPage page_ ABSL_GUARDED_BY(mutex_);
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  bool hold_creates_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
