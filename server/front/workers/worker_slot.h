// SPDX-License-Identifier: Apache-2.0
// One configured worker through all its incarnations: what is known of it, its stream while it has
// one, and its reports in order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "kernels/base/mutex.h"
#include "server/convert/worker_convert.h"
#include "server/front/workers/attach_server.h"
#include "server/front/workers/event_lane.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/restart_policy.h"
#include "server/front/workers/worker_pool.h"
#include "server/front/workers/worker_pool_options.h"

namespace reel::front {

class WorkerSlot final : public SessionOwner {
 public:
  // `wake` tells the supervisor to look; any thread.
  WorkerSlot(const WorkerOptions& worker, const WorkerPoolOptions& options,
             absl::AnyInvocable<void()> wake);
  // Before anything else that reports.
  void SetEvents(WorkerEvents& events);

  const std::string& name() const { return name_; }
  // After its last report; drops what is posted later.
  void EndReports() { lane_.End(); }

  // Any thread; what is sent is dropped while there is no stream.
  WorkerInfo Info() const;
  void Assign(const Assignment& assignment);
  void Send(const std::string& job, worker::v1::AttachResponse message);
  void SetStepLimit(absl::Duration limit);
  void LoadModel(const model::LoadOptions& options, int64_t revision);
  // Not for good: the next incarnation begins with it as with the others.
  void UnloadModel(const std::string& model, bool for_good);
  // Of one that is out.
  void Restore();

  // gRPC's threads. Admit: UNAUTHENTICATED for a wrong or used token, FAILED_PRECONDITION for
  // another protocol.
  absl::Status Admit(const worker::v1::Hello& hello, std::shared_ptr<Session> session);
  bool OnMessage(worker::v1::AttachRequest message) override;
  void OnBroken() override;

  // The supervisor's thread.
  LaunchRequest BeginIncarnation(const std::string& socket);
  void LaunchFailed();
  // Why it must be killed, if it must. Time in which this process did not run does not count.
  std::optional<LossCause> Diagnose(SteadyTime now, const Pauses& pauses) const;
  bool HasStream() const;
  void CloseStream();
  std::optional<SteadyTime> AttachedSince() const;
  void Drain(absl::Duration time_left);
  // True, once: it is to be put back into service.
  bool TakeRestore();
  // Without a stream and a process: reports the loss, exactly once. `out`: kNone if it will be
  // started again.
  void EndIncarnation(LossCause cause, OutReason out);

 private:
  // Of one incarnation, for the watch over it.
  struct Vitals {
    SteadyTime launched;
    std::optional<SteadyTime> attached, broken;
    SteadyTime last_message, last_beat;
    absl::Duration in_step;  // at the last beat
    absl::Duration step_limit = absl::InfiniteDuration();
    bool paused = false;  // we do not read, so silence means nothing
    int models_pending = 0;
    bool knows_models = false;  // that are loaded on demand
  };

  // A model that was sent and not answered for, or that waits for a stream. No canary looks at what
  // a worker begins with, so it begins with what it had.
  struct PendingLoad {
    model::LoadOptions options;
    int64_t revision = 0;
    bool sent = false;
  };

  void RoomAgain();
  // The lane's thread. Reported even when its incarnation has ended meanwhile; it then changes
  // nothing of the info, which is of the next one, or of a worker that is out.
  void Handle(worker::v1::AttachRequest message, int64_t ended_before);
  // What an event changes of the info; most change nothing.
  template <typename Event>
  void Note(const Event&) {}
  void Note(const KernelsListed& kernels) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const ModelLoaded& loaded) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const ModelKnown& known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const ModelFailed& failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const Stepped& stepped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteModel(const std::string& model, bool loaded) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of the models that it began with one more is answered for.
  void NoteStarted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the next incarnation begins with, in place of one of its name.
  void Keep(const model::LoadOptions& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendLoad(PendingLoad& load) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Models that were on their way are not any more; those that wait do so for as long as a process
  // will come.
  void GiveUpLoads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostFailure(const std::string& model, const char* why, int64_t revision);
  absl::Duration StepLimit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports the info as it is now.
  void PostChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerPoolOptions& options_;
  const std::string name_;
  const std::string device_;
  absl::AnyInvocable<void()> wake_;
  WorkerEvents* events_ = nullptr;

  mutable Mutex mutex_;
  // Its models are those that this worker has had, or was to have first.
  WorkerSettings settings_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, PendingLoad> pending_ ABSL_GUARDED_BY(mutex_);  // by model
  WorkerInfo info_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);  // empty: used
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
  Vitals vitals_ ABSL_GUARDED_BY(mutex_);
  bool launched_before_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;  // incarnations so far
  bool restore_asked_ ABSL_GUARDED_BY(mutex_) = false;
  EventLane lane_;  // last: its thread uses the rest
};

}  // namespace reel::front
