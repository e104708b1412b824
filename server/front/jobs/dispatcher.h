// SPDX-License-Identifier: Apache-2.0
// The dispatcher's thread and its inbox, which takes calls of a node and reports of workers. Only
// media go straight to the disk.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/front/jobs/job_service.h"
#include "server/front/jobs/scheduler.h"
#include "server/front/store/inbox.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Thread-safe. Callbacks run on its thread, with no lock held. Calls in progress at its destruction
// get no answer.
class Dispatcher final : public WorkerEvents {
 public:
  // Arguments outlive it. Nothing runs before Start.
  Dispatcher(const JobOptions& options, const DispatcherPorts& ports, EndJournal& journal,
             EndListener* listener = nullptr, FramesComparer* comparer = nullptr);
  ~Dispatcher() override;

  // Recovers from the store, then starts the thread. Call once, before anything below.
  absl::Status Start();
  // Ends readiness at once and admission after `propagation`; running jobs finish or are cut at
  // `limit`. Calls `done` when no job needs this process any more. A second call hurries.
  void Drain(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done) {
    Call(&Scheduler::StartDrain, propagation, limit, std::move(done));
  }
  // Takes a changed configuration: loads new and changed models, unloads removed ones.
  void SetModels(std::vector<ModelSource> models) {
    Call(&Scheduler::SetModels, std::move(models));
  }
  // Sets the adapters that requests may name.
  void SetAdapters(std::vector<RegisteredAdapter> adapters) {
    Call(&Scheduler::SetAdapters, std::move(adapters));
  }
  // Reads the clock again, for tests that set it.
  void Poke();
  // Blocks until everything posted so far has run.
  void Flush();

  // Called before the log has the video; see Reservations.
  void Reserve(NewJob job, Answer<Video> done) {
    Call(&Scheduler::Reserve, std::move(job), std::move(done));
  }
  void DropReservation(const std::string& id) { Call(&Scheduler::DropReservation, id); }
  // Follows the log; see Adoption. `never_begun`, thread-safe after Start: videos that the previous
  // process had adopted and no worker had started.
  const std::set<std::string>& never_begun() const { return scheduler_.never_begun(); }
  void Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done) {
    Call(&Scheduler::Adopt, std::move(adopted), std::move(done));
  }
  void Abandon(const std::string& id) { Call(&Scheduler::Abandon, id); }
  void EndAdopted(const std::string& id, const absl::Status& why) {
    Call(&Scheduler::EndAdopted, id, why);
  }
  void AbandonUnsent(absl::AnyInvocable<void(std::vector<std::string>)> done);
  // Learns a serialised model card of another server.
  void LearnCard(std::string card) { Call(&Scheduler::LearnCard, std::move(card)); }
  // Sets the serialised kernel lists of all other servers' devices, by model.
  void SetKernelsElsewhere(std::map<std::string, std::vector<std::string>> kernels) {
    Call(&Scheduler::SetKernelsElsewhere, std::move(kernels));
  }
  // Checks whether there is room for an upload.
  void CheckFile(const std::string& tenant, int64_t bytes,
                 absl::AnyInvocable<void(absl::Status)> done);
  // Sets the bytes of states that the log's videos keep, by tenant.
  void SetKeptStates(KeptStates states) { Call(&Scheduler::SetKeptStates, std::move(states)); }

  // As JobService; only videos that ended here.
  void Validate(NewJob job, Answer<Video> done) {
    Call(&Scheduler::Validate, std::move(job), std::move(done));
  }
  void Estimate(NewJob job, Answer<CostEstimate> done) {
    Call(&Scheduler::Estimate, std::move(job), std::move(done));
  }
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) {
    Call(&Scheduler::Find, reach, id, std::move(done));
  }
  void List(ListQuery query, Answer<ListPage> done) {
    Call(&Scheduler::List, std::move(query), std::move(done));
  }
  void Delete(const Reach& reach, const std::string& id, JobStore::Done done) {
    Call(&Scheduler::Delete, reach, id, std::move(done));
  }
  void LoadModel(const std::string& model, Answer<ServedModel> done);
  void UnloadModel(const std::string& model, Answer<ServedModel> done);
  void RestoreWorker(const std::string& worker, Answer<WorkerInfo> done);
  const std::string& ReplicaName() const { return scheduler_.replica().name(); }
  std::vector<ServedModel> Models() const { return scheduler_.roster().Models(); }
  std::vector<WorkerInfo> Workers() const { return scheduler_.roster().Workers(); }
  int Running(const std::string& worker) const { return scheduler_.roster().Running(worker); }
  const std::vector<std::string>& KernelProfiles() const { return kernel_profiles_; }
  const std::vector<std::string>& LossyKernelProfiles() const { return lossy_kernel_profiles_; }
  std::vector<ExperimentReport> Experiments() const { return scheduler_.experiments(); }
  bool draining() const { return scheduler_.draining(); }
  bool admitting() const { return !draining() && scheduler_.roster().AnyReady(); }

  // WorkerEvents
  void WorkerChanged(const WorkerInfo& worker) override { Call(&Scheduler::WorkerChanged, worker); }
  void WorkerLost(const std::string& worker, LossCause cause) override {
    Call(&Scheduler::WorkerLost, worker, cause);
  }
  // Blocks, for media, while the disk queue is full.
  void Report(WorkerReport report) override;

  // For tests: passes the number of live jobs to `done` on the dispatcher's thread.
  void NumActive(absl::AnyInvocable<void(size_t)> done);

 private:
  using Task = Scheduler::Task;
  void Post(Task task) { inbox_->Put(std::move(task)); }
  // Calls the scheduler on its thread.
  template <typename... Params, typename... Args>
  void Call(void (Scheduler::*method)(Params...), Args... args) {
    Post([this, method, ... args = std::move(args)]() mutable {
      (scheduler_.*method)(std::move(args)...);
    });
  }
  void Append(const JobRef& ref, JobMedia media);
  void Loop();

  // Shared with callbacks of the stores that run after this is destroyed.
  const std::shared_ptr<Inbox<Task>> inbox_;
  MediaStore& media_;
  std::vector<std::string> kernel_profiles_, lossy_kernel_profiles_;
  Scheduler scheduler_;
  std::thread thread_;
};

}  // namespace reel::front
