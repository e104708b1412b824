// SPDX-License-Identifier: Apache-2.0
// The JobService of a server in a fleet: calls about the fleet's videos go through its log, all
// others to the dispatcher.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/end_journal.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/video.h"
#include "server/front/node/files.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/fleet_node.h"
#include "server/front/node/node_options.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/object_keys.h"
#include "server/front/node/request_turns.h"
#include "server/front/node/submission.h"
#include "server/front/node/write_queue.h"
#include "server/front/store/inbox.h"

namespace reel::front {

// How this node reaches other nodes, and how they reach it.
struct Neighbours {
  Peers peers;          // empty: other nodes are not streamed from
  std::string address;  // where others reach this node; empty: as in the options
};

// Thread-safe. Callbacks run on its thread or on the dispatcher's.
class FleetService final : public JobService, public EndJournal {
 public:
  // The dispatcher is created with this as its journal. Arguments outlive it.
  FleetService(NodeOptions options, const VideoSerializer& serializer, const Clock& clock,
               SharedStore store = {}, DiskProbe probe = {});
  ~FleetService() override;

  // The fleet's clock, for the dispatcher.
  const Clock& clock() const { return clock_; }
  // The view that folds the log, for the port of Start.
  FleetView& view() { return view_; }
  // Called once. Uses `jobs` until Stop.
  void Start(std::unique_ptr<LogPort> port, Dispatcher& jobs, Neighbours neighbours = {});
  // Called before the dispatcher is destroyed. Calls in progress get no answer.
  void Stop();

  // As Dispatcher::Drain.
  void Drain(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // For tests that set the clock: reads it again, and returns once all posted tasks have run and
  // their writes were tried.
  void Poke();

  // Why nothing is admitted although workers are ready, one line for operators; empty if all is
  // well.
  std::string Problem() const;

  // EndJournal
  void End(const std::string& id, uint32_t epoch, const Video& video, uint64_t last_sequence,
           absl::AnyInvocable<void(absl::Status)> done) override;
  void KeepState(const std::string& id, uint32_t epoch, const Video& video,
                 std::shared_ptr<const StatePieces> state,
                 absl::AnyInvocable<void(absl::Status)> done) override;

  // JobService
  void CreateAll(NewJob job, Answer<Jobs> done) override;
  void Validate(NewJob job, Answer<Video> done) override;
  void Estimate(NewJob job, Answer<CostEstimate> done) override;
  void Leave(const std::string& id, LeaveReason reason) override;
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) override;
  void List(ListQuery query, Answer<ListPage> done) override;
  void Cancel(const Reach& reach, const std::string& id, Answer<Video> done) override;
  void Delete(const Reach& reach, const std::string& id,
              absl::AnyInvocable<void(absl::Status)> done) override;
  void BeginFile(const std::string& tenant, int64_t size,
                 Answer<std::unique_ptr<FileUpload>> done) override;
  void LoadModel(const std::string& model, Answer<ServedModel> done) override {
    jobs_->LoadModel(model, std::move(done));
  }
  void UnloadModel(const std::string& model, Answer<ServedModel> done) override {
    jobs_->UnloadModel(model, std::move(done));
  }
  void RestoreWorker(const std::string& worker, Answer<WorkerInfo> done) override {
    jobs_->RestoreWorker(worker, std::move(done));
  }
  const std::string& ReplicaName() const override { return options_.fleet; }
  // A gateway returns the models of the other nodes.
  std::vector<ServedModel> Models() const override;
  std::vector<WorkerInfo> Workers() const override { return jobs_->Workers(); }
  int Running(const std::string& worker) const override { return jobs_->Running(worker); }
  std::vector<std::string> KernelProfiles() const override { return jobs_->KernelProfiles(); }
  std::vector<std::string> LossyKernelProfiles() const override {
    return jobs_->LossyKernelProfiles();
  }
  std::vector<ExperimentReport> Experiments() const override { return jobs_->Experiments(); }
  // Runs on a thread of its own; UNAVAILABLE while too many other calls wait for it.
  void CheckFleet(Answer<std::vector<FleetCheck>> done) override;
  // About a second old.
  std::optional<FleetStatus> Fleet() const override;
  bool draining() const override { return jobs_->draining(); }
  // Also false while the log cannot be reached.
  bool admitting() const override;

 private:
  bool HasLog() const { return port_->IsUp() && view_.ready(); }
  // The error for an unknown model: `status`, or UNAVAILABLE while nodes may still announce it.
  absl::Status MayCome(const absl::Status& status) const;
  template <typename T>
  Answer<T> OrMayCome(Answer<T> done) const {
    return [this, done = std::move(done)](absl::StatusOr<T> answer) mutable {
      if (!answer.ok()) answer = MayCome(answer.status());
      done(std::move(answer));
    };
  }
  // CreateAll, Validate and Estimate once the request's files are known. `files` says why one
  // cannot be used, which does not matter if the request id already has videos.
  void CreateKnown(NewJob job, absl::Status files, Answer<Jobs> done);
  void ValidateKnown(NewJob job, Answer<Video> done);
  void EstimateKnown(NewJob job, Answer<CostEstimate> done);
  // Looks up the files that the request names.
  void WithFiles(NewJob job, Files::Described done);
  // Looks them up and calls `then`, or answers why one cannot be used.
  template <typename T>
  void WithFiles(NewJob job, Answer<T> done, void (FleetService::*then)(NewJob, Answer<T>));
  void Begin(const std::shared_ptr<Submission::Call>& call);
  void Submit(const std::shared_ptr<Submission::Call>& call);
  using Task = OwnThread::Task;
  // Calls the node on its thread.
  template <typename... Params, typename... Args>
  void Call(void (FleetNode::*method)(Params...), Args... args);
  void Loop();
  // Waits until its thread has done what was posted before.
  void CatchUp();
  std::vector<FleetCheck> Examine();

  NodeOptions options_;  // final from Start on
  const VideoSerializer& serializer_;
  FleetClock clock_;
  const SharedStore store_;
  const DiskProbe probe_;
  const std::shared_ptr<Inbox<Task>> inbox_;
  const OwnThread own_thread_;
  const std::shared_ptr<JobListener> waker_;
  NodeShared shared_;
  const LoggedVideos logged_;
  RequestTurns turns_;
  mutable FleetView view_;
  // From Start on, in this order.
  Dispatcher* jobs_ = nullptr;
  std::unique_ptr<LogPort> port_;  // tells the view
  std::unique_ptr<WriteQueue> writes_;
  NodePools pools_;
  int num_checks_ = 0;  // of the thread for checks
  std::unique_ptr<FleetNode> node_;
  std::thread thread_;
};

}  // namespace reel::front
