// SPDX-License-Identifier: Apache-2.0
// The events of the dispatcher's thread, each handed to the class that handles it, and Settle,
// which runs after every event.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/front/jobs/admission.h"
#include "server/front/jobs/adoption.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/end_journal.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/finishing.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/load_figures.h"
#include "server/front/jobs/model_changes.h"
#include "server/front/jobs/plan_runner.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/quotes.h"
#include "server/front/jobs/reports.h"
#include "server/front/jobs/reservations.h"
#include "server/front/jobs/restart.h"
#include "server/front/jobs/shadows/shadows.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/state_keeping.h"
#include "server/front/jobs/stored_videos.h"

namespace reel::front {

// Confined to one thread, except Recover, which runs before, draining() and fleet()'s snapshots.
// Call Settle after each event.
class Scheduler {
 public:
  using Task = OwnThread::Task;
  // `post` runs a task on the scheduler's thread and can be called on any. `listener` may be null;
  // so may `comparer`, and experiments then have no shadow renders.
  Scheduler(const JobOptions& options, const DispatcherPorts& ports, EndJournal& journal,
            EndListener* listener, FramesComparer* comparer, std::function<void(Task)> post);

  // Runs before anything else. Blocks.
  absl::Status Recover();
  // Acts on changes: assigns jobs to workers with room, completes a drain.
  void Settle();
  // Runs due timers and returns the time until the next one.
  absl::Duration RunTimers();
  void SaveCosts();

  // Events: calls.
  void Validate(const NewJob& job, Answer<Video> done) { done(reservations_.Validate(job)); }
  void Estimate(const NewJob& job, Answer<CostEstimate> done) { done(reservations_.Estimate(job)); }
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) {
    stored_.Find(reach, id, std::move(done));
  }
  void List(const ListQuery& query, Answer<ListPage> done) { stored_.List(query, std::move(done)); }
  void Delete(const Reach& reach, const std::string& id, JobStore::Done done) {
    stored_.Delete(reach, id, std::move(done));
  }
  void StartDrain(absl::Duration propagation, absl::Duration limit, Task done) {
    shadows_.GiveUp();
    drain_.Start(propagation, limit, std::move(done));
  }

  void SetAdapters(std::vector<RegisteredAdapter> adapters) {
    state_.roster.SetAdapters(std::move(adapters));
  }
  void SetModels(std::vector<ModelSource> models) {
    shadows_.GiveUp();
    models_.SetSources(std::move(models));
  }
  absl::StatusOr<ServedModel> LoadModel(const std::string& model) {
    shadows_.GiveUp();
    return models_.Load(model);
  }
  absl::StatusOr<ServedModel> UnloadModel(const std::string& model) {
    shadows_.GiveUp();
    return models_.Unload(model);
  }
  // Puts a worker back into service.
  absl::StatusOr<WorkerInfo> RestoreWorker(const std::string& worker);

  // Events: reservations, and what the log says.
  void Reserve(NewJob job, Answer<Video> done);
  void DropReservation(const std::string& id) { reservations_.Drop(id); }
  void Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done) {
    adoption_.Adopt(std::move(adopted), std::move(done));
  }
  void Abandon(const std::string& id) { adoption_.Abandon(id); }
  void EndAdopted(const std::string& id, const absl::Status& why) { adoption_.End(id, why); }
  std::vector<std::string> AbandonUnsent() { return adoption_.AbandonUnsent(); }
  // Card of another server's model.
  void LearnCard(const std::string& card);
  void SetKernelsElsewhere(const std::map<std::string, std::vector<std::string>>& kernels);
  // Whether there is room for an upload.
  absl::Status CheckFile(const std::string& tenant, int64_t bytes) const;
  void SetKeptStates(KeptStates states) {
    state_.ledger.SetStates(std::move(states));
    gauges_stale_ = true;
  }

  // Events: reports of workers.
  void WorkerChanged(const WorkerInfo& worker) { reports_.WorkerChanged(worker); }
  void WorkerLost(const std::string& worker, LossCause cause) {
    shadows_.WorkerLost(worker);
    recovery_.WorkerLost(worker, cause);
  }
  void Report(WorkerReport report) {
    std::visit([&](auto& event) { On(report, event); }, report.event);
  }
  void MediaAppended(const JobRef& ref, const MediaGrowth& growth) {
    reports_.MediaAppended(ref, growth);
  }

  // Thread-safe. True from the start of a drain.
  bool draining() const { return state_.drain.begun; }
  const WorkerRoster& roster() const { return state_.roster; }
  const Replica& replica() const { return state_.replica; }
  // Thread-safe after Recover. Videos that no worker of the previous process had started.
  const std::set<std::string>& never_begun() const { return never_begun_; }
  // Thread-safe.
  std::vector<ExperimentReport> experiments() const { return state_.experiments.Reports(); }
  size_t num_active() const { return state_.jobs.size(); }

 private:
  // Workers' reports, each passed to the class that handles it.
  void On(const WorkerReport& from, ModelLoaded& event) { reports_.On(from, event); }
  void On(const WorkerReport& from, ModelKnown& event) { reports_.On(from, event); }
  void On(const WorkerReport& from, ModelFailed& event) { reports_.On(from, event); }
  void On(const WorkerReport& from, Stepped& event) { reports_.On(from, event); }
  void On(const WorkerReport& from, JobProgress& event) { reports_.On(from, event); }
  void On(const WorkerReport& from, JobPreview& event) { reports_.On(from, std::move(event)); }
  void On(const WorkerReport& from, JobFinished& event);
  void On(const WorkerReport& from, JobFailed& event);
  void On(const WorkerReport&, KernelsListed&) {}  // handled by WorkerChanged
  void On(const WorkerReport& from, JobParked& event) { parking_.On(from, event); }
  void On(const WorkerReport& from, JobState& event) { states_to_keep_.On(from, std::move(event)); }
  void On(const WorkerReport&, JobMedia&) {}  // stored first; MediaAppended follows

  bool TakeChanged();
  void Fire(const Timer& timer);
  void Tick();

  const DispatcherPorts ports_;
  DispatcherState state_;
  std::set<std::string> never_begun_;
  int64_t ticks_ = 0;
  bool gauges_stale_ = true;

  // Handlers, each after those that it calls.
  JobRecords records_;
  Slots slots_;
  StepLimits limits_;
  ProgressLog progress_;
  Heartbeats heartbeats_;
  Admission admission_;
  LoadFigures load_;
  Quotes quotes_;
  StoredVideos stored_;
  StateKeeping states_to_keep_;
  Endings endings_;
  Finishing finishing_;
  Recovery recovery_;
  Reports reports_;
  Adoption adoption_;
  Reservations reservations_;
  Drain drain_;
  Parking parking_;
  ModelChanges models_;
  Shadows shadows_;
  Assigner assigner_;
  PlanRunner runner_;
};

}  // namespace reel::front
