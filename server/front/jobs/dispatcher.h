// SPDX-License-Identifier: Apache-2.0
// The dispatcher's thread, and how others reach it: calls of a node and reports from workers are
// posted to one inbox; only media go straight to the disk.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/front/jobs/job_service.h"
#include "server/front/jobs/scheduler.h"
#include "server/front/store/inbox.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Thread-safe. Answers come on its thread, with no lock held. What is unanswered when it is
// destroyed stays unanswered.
class Dispatcher final : public WorkerEvents {
 public:
  // What it is given outlives it. Nothing runs before Start.
  Dispatcher(const JobOptions& options, const DispatcherPorts& ports, EndJournal& journal,
             EndListener* listener = nullptr, FramesComparer* comparer = nullptr);
  ~Dispatcher() override;

  // Takes up what the store has, then starts the thread. Call once, before anything below.
  absl::Status Start();
  // Readiness falls at once, admission after `propagation`; running jobs finish or meet `limit`.
  // `done` comes when no job needs this process any more. A second call means now.
  void Drain(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // The configuration has changed: what is new or different is loaded, what is gone is unloaded.
  void SetModels(std::vector<ModelSource> models);
  // What requests may name from now on.
  void SetAdapters(std::vector<RegisteredAdapter> adapters);
  // Reads the clock again, for tests that set it.
  void Poke();
  // Blocks until everything that was posted so far is done.
  void Flush();

  // For a log that is about to have the video: see Reservations.
  void Reserve(NewJob job, Answer<Video> done);
  void DropReservation(const std::string& id);
  // What the log says of its jobs: see Adoption.
  // Thread-safe after Start: videos that the process before had adopted and no worker had begun.
  const std::set<std::string>& never_begun() const { return scheduler_.never_begun(); }
  void Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done);
  void Abandon(const std::string& id);
  void EndAdopted(const std::string& id, const absl::Status& why);
  void AbandonUnsent(absl::AnyInvocable<void(std::vector<std::string>)> done);
  // A model's card, serialised, of another server.
  void LearnCard(std::string card);
  // By model, what the devices of other servers have for it, serialised; all of it.
  void SetKernelsElsewhere(std::map<std::string, std::vector<std::string>> kernels);
  // Whether there is room for a file that is sent ahead of a request.
  void CheckFile(const std::string& tenant, int64_t bytes,
                 absl::AnyInvocable<void(absl::Status)> done);
  // Bytes of the states that videos of the log have kept, by tenant.
  void SetKeptStates(KeptStates states);

  // As of JobService; of videos those alone that have ended here.
  void Validate(NewJob job, Answer<Video> done);
  void Estimate(NewJob job, Answer<CostEstimate> done);
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(ListQuery query, Answer<ListPage> done);
  void Delete(const Reach& reach, const std::string& id,
              absl::AnyInvocable<void(absl::Status)> done);
  void LoadModel(const std::string& model, Answer<ServedModel> done);
  void UnloadModel(const std::string& model, Answer<ServedModel> done);
  void RestoreWorker(const std::string& worker, Answer<WorkerInfo> done);
  const std::string& ReplicaName() const;
  std::vector<ServedModel> Models() const;
  std::vector<WorkerInfo> Workers() const;
  int Running(const std::string& worker) const;
  std::vector<std::string> KernelProfiles() const;
  std::vector<std::string> LossyKernelProfiles() const;
  std::vector<ExperimentReport> Experiments() const;
  bool draining() const;
  bool admitting() const;

  // WorkerEvents
  void WorkerChanged(const WorkerInfo& worker) override;
  void WorkerLost(const std::string& worker, LossCause cause) override;
  // Waits, with media, while the disk queue is full.
  void Report(WorkerReport report) override;

  // The number of live jobs, for tests; answered on the dispatcher's thread.
  void NumActive(absl::AnyInvocable<void(size_t)> done);

 private:
  using Task = Scheduler::Task;
  void Post(Task task) { inbox_->Put(std::move(task)); }
  void Append(const JobRef& ref, JobMedia media);
  void Loop();

  // Shared with answers of the stores that arrive after this is destroyed.
  const std::shared_ptr<Inbox<Task>> inbox_;
  MediaStore& media_;
  std::vector<std::string> kernel_profiles_, lossy_kernel_profiles_;
  Scheduler scheduler_;
  std::thread thread_;
};

}  // namespace reel::front
