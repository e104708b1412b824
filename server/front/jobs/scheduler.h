// SPDX-License-Identifier: Apache-2.0
// All that the dispatcher's thread decides: which calls become jobs, which job goes to which worker
// and when, and how each ends. The files are its ideas: creation, lookups, assignment, reports,
// recovery, endings, expiry, timers, restart, drain.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/errors/reason.h"
#include "server/front/jobs/active_job.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/cost_model.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/quarantine.h"
#include "server/front/jobs/queue_order.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// What the scheduler works with; all of it outlives it.
struct SchedulerParts {
  JobStore& store;
  MediaStore& media;
  WorkerPool& pool;
  JobObserver& observer;
  const Clock& clock;
  const VideoSerializer& serializer;
};

// Confined to one thread, but for Recover, which comes before it, and fleet()'s snapshots.
class Scheduler {
 public:
  using Task = absl::AnyInvocable<void()>;
  // `post` brings a task to the scheduler's thread, from any other.
  Scheduler(const JobOptions& options, SchedulerParts parts, std::function<void(Task)> post);

  // restart.cc: takes up what an earlier process left. Before anything else; blocks.
  absl::Status Recover();

  // creation.cc
  void Create(Caller caller);
  void Validate(NewJob job, Answer<Video> done);
  void Estimate(NewJob job, Answer<CostEstimate> done);
  // lookups.cc
  void Find(const std::string& tenant, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(ListQuery query, Answer<ListPage> done);
  // endings.cc
  void Cancel(const std::string& tenant, const std::string& id, Answer<Video> done);
  void Leave(const std::string& id, LeaveReason reason);
  // expiry.cc
  void Delete(const std::string& tenant, const std::string& id, JobStore::Done done);

  // reports.cc
  void ModelLoaded(const std::string& worker, const model::ModelCard& card);
  void ModelFailed(const std::string& worker, const std::string& model, const absl::Status& error);
  void JobProgress(const std::string& job, int attempt, model::Stage stage, int step,
                   int num_steps);
  void JobPreview(const std::string& job, int attempt, PreviewEvent preview);
  void MediaAppended(const std::string& job, int attempt, absl::StatusOr<int64_t> size,
                     bool fragment_end);
  void Stepped(const std::string& worker, const StepSample& sample);
  // recovery.cc
  void WorkerChanged(const WorkerInfo& worker);
  void WorkerLost(const std::string& worker, LossCause cause);
  void JobFailed(const std::string& job, int attempt, const absl::Status& error, bool suspect);
  // endings.cc
  void JobFinished(const std::string& job, int attempt, model::RunStats stats,
                   model::MediaInfo media, std::vector<model::Notice> notices);

  // timers.cc: does what is due; until when nothing is.
  absl::Duration RunTimers();
  void SaveCosts();

  // drain.cc
  void StartDrain(absl::Duration propagation, absl::Duration limit, Task done);

  // Thread-safe: true from the start of a drain.
  bool draining() const { return drain_begun_; }

  const Fleet& fleet() const { return fleet_; }
  size_t num_active() const { return jobs_.size(); }

 private:
  using RequestKey = std::pair<std::string, std::string>;  // tenant, request id
  // Calls with one request id, answered one after the other.
  struct Request {
    std::string job;  // live, if any
    std::vector<Caller> callers;
    bool busy = false;  // the first caller is being looked after
  };

  // An answer that comes on another thread, brought to this one.
  template <typename Arg, typename F>
  absl::AnyInvocable<void(Arg)> Here(F then) {
    return [post = post_, then = std::move(then)](Arg arg) mutable {
      post([then = std::move(then), arg = std::move(arg)]() mutable { then(std::move(arg)); });
    };
  }

  // scheduler.cc
  absl::Duration now() const { return parts_.clock.Monotonic(); }
  absl::Time wall() const { return parts_.clock.Wall(); }
  ActiveJob* FindActive(const std::string& id);
  ActiveJob* FindAttempt(const std::string& id, int attempt);
  void Save(ActiveJob& job, Durability durability, JobStore::Done done);
  absl::StatusOr<std::shared_ptr<LoggedJob>> ReadBack(const JobRow& row) const;
  Load LoadFor(const std::string& tenant) const;
  absl::Status EndError(const ActiveJob& job, Reason reason, std::string_view message) const;
  void ReportGauges();

  // creation.cc
  void ServeRequest(const RequestKey& key);
  void Answered(const RequestKey& key);
  void OnRequestRecord(const RequestKey& key, absl::StatusOr<RequestRecord> record);
  void Join(ActiveJob& job, Caller caller);
  void Admit(Caller caller);
  void Refuse(Caller caller, const absl::Status& why);
  void Begin(Caller caller, CheckedRequest checked);
  void StoreNew(const std::string& id, Caller caller);
  void OnCreated(const std::string& id, Caller caller, const absl::Status& status);
  void Abandon(const std::string& id, Caller caller, const absl::Status& why);
  // assignment.cc
  void Pump();
  std::vector<ActiveJob*> RunOrder();
  void Assign(ActiveJob& job, FleetWorker& worker);
  void Send(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions);
  void RenewStepLimit(const std::string& worker);
  // reports.cc
  void StartRun(ActiveJob& job);
  void AddProgress(ActiveJob& job, bool keep, int position, absl::Duration ahead);
  absl::Duration AheadAtWorker(const ActiveJob& job);
  void ReserveNumbers(ActiveJob& job);
  // recovery.cc
  void Restart(ActiveJob& job, std::string_view reason, bool alone);
  void OnRestarted(const std::string& id, const RestartRow& restart, const absl::Status& status);
  void LoseJob(ActiveJob& job, LossCause cause, bool ran, bool alone);
  void Unassign(ActiveJob& job);
  // endings.cc
  void End(ActiveJob& job, VideoState state, absl::Status error);
  void EndByDeadline(ActiveJob& job);
  void OnDigest(const std::string& id, Video video, absl::StatusOr<MediaDigest> digest);
  void OnEnded(const std::string& id, Video video, uint64_t sequence, absl::Status status);
  void KeepUnsaved(const ActiveJob& job, const Video& video);
  void SaveUnsaved();
  const JobRow& Latest(const JobRow& row) const;
  // expiry.cc
  void Reap(Task done);
  void RemoveStored(const JobRow& row, JobStore::Done done);
  // restart.cc
  void TakeUp(JobRow row);
  void TakeUpLive(ActiveJob job, Video video);
  // timers.cc
  void Tick();
  void Heartbeats();
  // drain.cc
  void StopAdmitting();
  void EndDrain();
  void EndByDrain(ActiveJob& job);
  void CheckDrained();

  const JobOptions options_;
  SchedulerParts parts_;
  std::function<void(Task)> post_;
  std::map<std::string, ActiveJob> jobs_;
  std::map<RequestKey, Request> requests_;
  std::set<std::string> removing_;  // stored videos on their way out
  // Ends that the store could not take, for want of room on its disk; tried again.
  std::map<std::string, JobRow> unsaved_;
  Fleet fleet_;
  CostModel costs_;
  Admission admission_;
  FairShare share_;
  TenantLedger ledger_;
  Quarantine quarantine_;
  TimerQueue timers_;
  std::mt19937_64 random_;
  int64_t assignments_ = 0;
  int64_t ticks_ = 0;
  std::atomic<bool> drain_begun_ = false;
  bool closed_ = false;  // no new jobs, no new assignments
  bool limit_met_ = false;
  std::vector<Task> drained_;
  bool gauges_stale_ = true;
};

}  // namespace reel::front
