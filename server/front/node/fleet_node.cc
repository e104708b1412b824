// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_node.h"

#include <optional>
#include <utility>

#include "server/front/jobs/stored_videos.h"
#include "server/front/jobs/video_id.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr int64_t kTicksPerSecond = 10;
// How long expired videos stay in the view, so that the janitor finds their results. A lone server
// remembers request ids for a day beyond their videos.
constexpr absl::Duration kKeepExpired = absl::Hours(1), kKeepExpiredAlone = absl::Hours(24);
// Time to write a drain's releases.
constexpr absl::Duration kLastWrites = absl::Seconds(2);

// The video that a request continues.
FleetState::Key SourceOf(const NewJob& job) {
  return {job.tenant, IdOfName(job.spec.source->video)};
}

}  // namespace

FleetNode::FleetNode(const NodeOptions& options, const NodePorts& ports, const NodeOutside& outside,
                     NodeShared& shared, NodePools& pools)
    : ports_(ports),
      shared_(shared),
      state_(options, ports_, outside.serializer, outside.peers, pools.fetches.get()),
      barrier_(ports.port, *pools.looks, ports.thread, ports.clock),
      clock_watch_(ports.port, *pools.looks, ports.thread, ports.clock, shared.fitness, options),
      name_(options, shared.fitness),
      deliveries_(state_, ports_, outside.store, pools.uploads.get(), shared.store),
      conditions_(outside.store, pools.reads.get(), shared.store, ports.thread, options),
      states_(state_, ports_, outside.store.objects, pools.uploads.get(), pools.reads.get(),
              shared.store),
      sources_(ports.view, {outside.serializer, options.seal}, ports.clock),
      inputs_(conditions_, states_, sources_),
      disk_(outside.probe, *pools.probes, ports.thread, shared.fitness, ports.clock),
      files_(state_, ports_, outside.store.objects, pools, shared.store, [this] { CountStates(); }),
      janitor_(state_, ports_, outside.store.objects, pools.uploads.get(), shared.store, files_),
      holdings_(state_, ports_, deliveries_, inputs_, disk_, outside.waker),
      leftovers_(ports.jobs, ports.view, ports.thread, options,
                 [this](Leftover leftover) { holdings_.Resume(std::move(leftover)); }),
      claimer_(state_, ports_, holdings_, deliveries_, shared.fitness),
      submission_(state_, ports_, conditions_, states_, sources_, holdings_),
      wishes_(state_, ports_),
      reads_(ports.jobs, ports.view, state_.faces, ports.thread, options, ports.clock),
      report_(state_, ports_, claimer_, holdings_, deliveries_, shared.fitness),
      started_(ports.clock.Monotonic()),
      ticked_(started_),
      last_up_(started_) {}

void FleetNode::Settle() {
  const absl::Duration now = ports_.clock.Monotonic();
  WatchLease(now);
  const uint64_t told = ports_.view.told();
  TakeChanges();
  if (now - ticked_ >= kTick || ticks_ == 0) Tick(now);
  state_.waiters.Settle(now);
  barrier_.Settle(ports_.view.ready(), told);
  if (!ports_.view.ready()) return;
  if (!name_.holds()) return;
  leftovers_.Look();
  if (leftovers_.done() && ports_.port.IsUp() && !draining_) claimer_.Settle(now);
}

void FleetNode::TakeChanges() {
  const ViewChanges::Taken taken = shared_.changes.Take();
  if (taken.anew) {
    state_.index.Clear();
    state_.use.Clear();
    stale_ = true;
  }
  for (const auto& [key, change] : taken.videos) Learn(key, change);
  // Every server counts the cost of all videos for their tenants.
  for (const ViewBill& bill : taken.bills) state_.use.Ended(bill, ports_.clock.Wall());
  if (!taken.bills.empty()) state_.index.SetPaces(ports_.view.Paces());
  // Before the log is read to its end, a video that is missing may still come.
  if (!ports_.view.ready()) {
    stale_ = true;
    return;
  }
  if (!std::exchange(stale_, false)) {
    for (const auto& [key, change] : taken.videos) holdings_.Settle(key);
  } else {
    holdings_.SettleAll(false);
  }
}

void FleetNode::LearnSource(const Key& key, const ViewChange& change) {
  if (!state_.faces.any() || (!change.deleted && state_.index.FindLive(key) != nullptr)) return;
  const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
  if (!video || video->facts.source.empty()) return;
  const Key source{key.first, video->facts.source};
  if (!state_.faces.Has(source)) return;
  if (const auto job = ports_.view.Find(source.first, source.second))
    state_.faces.Update(source, *job);
}

void FleetNode::Learn(const Key& key, const ViewChange& change) {
  LearnSource(key, change);
  const bool was_live = state_.index.FindLive(key) != nullptr;
  if (!change.live && !change.deleted && !was_live && !state_.faces.Has(key)) return;
  const std::optional<FleetJob> job = ports_.view.Find(key.first, key.second);
  if (!job) return;  // only its trace is left
  state_.index.Update(key, *job);
  state_.faces.Update(key, *job);
  const KnownVideo* const live = state_.index.FindLive(key);
  if (live != nullptr && live->locked && !std::exchange(told_locked_, true)) {
    Log(LogLevel::kError,
        "Videos of the fleet are encrypted with a key that this server does not have; it leaves "
        "them to others",
        {{"video", key.second}});
  }
  if (!change.deleted) return;
  // The janitor's sweep handles videos that were deleted before this process started.
  if (ports_.view.ready()) janitor_.OnDeleted(key, job->object);
  if (job->owner != state_.options.node) return;
  deleting_.insert(key);
  DeleteHere(key);
}

// Fails while the end is not stored here yet; Tick retries.
void FleetNode::DeleteHere(const Key& key) {
  ports_.jobs.Delete({key.first}, key.second,
                     ports_.thread.Here<absl::Status>([this, key](const absl::Status& status) {
                       if (!absl::IsFailedPrecondition(status)) deleting_.erase(key);
                     }));
}

void FleetNode::CountStates() {
  const absl::Time now = ports_.clock.Wall();
  const auto [count, expired] = ports_.view.StateCounts(now);
  KeptStates states = {ports_.view.StateBytes(now), count, expired, states_.damaged(),
                       files_.use().bytes};
  if (states == kept_states_) return;
  kept_states_ = states;
  ports_.jobs.SetKeptStates(std::move(states));
}

void FleetNode::Tick(absl::Duration now) {
  ticked_ = now;
  const bool each_second = ticks_++ % kTicksPerSecond == 0;
  state_.beats.Tick(now, {ports_.view.position(), static_cast<int>(holdings_.size()),
                          draining_ ? 0 : claimer_.idle(), draining_, shared_.fitness.Why(),
                          name_.holds(), name_.stands_by()});
  name_.Tick(now, state_.beats.nodes(), state_.beats.hears_since());
  shared_.ready_models.Set(state_.beats.ReadyModels(), state_.beats.KnowsModels(now));
  state_.faces.Tick(now);
  report_.Tick(now);
  if (each_second) shared_.status.Set(report_.Make());
  if (each_second && !state_.options.alone) disk_.Tick();
  if (each_second) clock_watch_.Tick(now);
  if (!ports_.view.ready()) return;
  const bool waited = state_.options.alone || now - started_ > state_.options.silence;
  const bool strangers_may_go = leftovers_.done() && name_.holds() && waited;
  if (ports_.port.IsUp()) holdings_.SettleAll(strangers_may_go);
  if (!each_second) return;
  CountStates();
  files_.Tick(now);
  state_.faces.Prune();
  ports_.view.ForgetExpired(ports_.clock.Wall() -
                            (state_.options.alone ? kKeepExpiredAlone : kKeepExpired));
  deliveries_.Tick(now);
  // Repeated every second, since a claim may have been in flight.
  if (!state_.options.alone && !shared_.fitness.fit())
    holdings_.GiveBackUnsent(ReleaseReason::kUnfit);
  for (const Key& key : deleting_) DeleteHere(key);
  if (!ports_.port.IsUp()) return;
  // Ends no video at its deadline by a clock that may be wrong.
  if (clock_watch_.agrees()) wishes_.Tick();
  janitor_.Tick(now);
}

// Uses the monotonic clock: after a sleep or a cut, others may have taken this node's videos.
void FleetNode::WatchLease(absl::Duration now) {
  if (state_.options.alone) return;
  if (ports_.port.IsUp()) {
    last_up_ = now;
    cut_off_ = false;
  }
  const bool slept = now - ticked_ > state_.options.lease;
  const bool was_cut_off = now - last_up_ > state_.options.lease;
  if (slept || (was_cut_off && !std::exchange(cut_off_, true))) {
    name_.Drop(now);
    holdings_.StopAll();
  }
}

void FleetNode::Create(Submission::Call call) {
  call.made = [this, bound = call.job.bound](const std::string& id, bool is_new) {
    wishes_.Join(id, bound, is_new);
  };
  call.done = [this, done = std::move(call.done)](absl::StatusOr<Jobs> made) mutable {
    if (!made.ok()) return done(std::move(made));
    FindFiles(*std::move(made), 0, std::move(done));
  };
  if (!call.job.spec.source) return submission_.Create(std::move(call));
  const Key source = SourceOf(call.job);
  Know({source.first}, source.second,
       [this, call = std::move(call)](const absl::Status& known) mutable {
         if (!known.ok()) return call.done(known);
         submission_.Create(std::move(call));
       });
}

void FleetNode::FindFiles(Jobs jobs, size_t next, Answer<Jobs> done) {
  while (next < jobs.size() && jobs[next]->state() != VideoState::kSucceeded) ++next;
  if (next == jobs.size()) return done(std::move(jobs));
  const Video video = jobs[next]->Snapshot();
  reads_.Find({video.tenant}, video.id,
              [this, jobs = std::move(jobs), next,
               done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> found) mutable {
                if (!found.ok()) return done(found.status());
                jobs[next] = *std::move(found);
                FindFiles(std::move(jobs), next + 1, std::move(done));
              });
}

void FleetNode::Validate(NewJob job, Answer<Video> done) {
  if (!job.spec.source) return submission_.Validate(std::move(job), std::move(done));
  FillFromSource(std::move(job),
                 [this, done = std::move(done)](absl::StatusOr<NewJob> filled) mutable {
                   if (!filled.ok()) return done(filled.status());
                   // A lone server's dispatcher has the whole queue.
                   if (state_.options.alone)
                     return ports_.jobs.Validate(*std::move(filled), std::move(done));
                   submission_.Validate(*std::move(filled), std::move(done));
                 });
}

void FleetNode::Estimate(NewJob job, Answer<CostEstimate> done) {
  FillFromSource(std::move(job),
                 [this, done = std::move(done)](absl::StatusOr<NewJob> filled) mutable {
                   if (!filled.ok()) return done(filled.status());
                   ports_.jobs.Estimate(*std::move(filled), std::move(done));
                 });
}

void FleetNode::FillFromSource(NewJob job, Answer<NewJob> then) {
  const Key source = SourceOf(job);
  Know({source.first}, source.second,
       [this, job = std::move(job), then = std::move(then)](absl::Status known) mutable {
         if (known.ok()) known = sources_.Fill(job);
         if (!known.ok()) return then(std::move(known));
         then(std::move(job));
       });
}

void FleetNode::Know(const Reach& reach, const std::string& id,
                     absl::AnyInvocable<void(const absl::Status&)> then) {
  // A lone server's view always has what its log has.
  if (!state_.options.alone && reads_.MayBeNew(reach, id)) return barrier_.Wait(std::move(then));
  then(absl::OkStatus());
}

void FleetNode::Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) {
  Know(reach, id, [this, reach, id, done = std::move(done)](const absl::Status& known) mutable {
    if (!known.ok()) return done(known);
    reads_.Find(reach, id, std::move(done));
  });
}

void FleetNode::Cancel(const Reach& reach, const std::string& id, Answer<Video> done) {
  Know(reach, id, [this, reach, id, done = std::move(done)](const absl::Status& known) mutable {
    if (!known.ok()) return done(known);
    CancelKnown(reach, id, std::move(done));
  });
}

void FleetNode::CancelKnown(const Reach& reach, const std::string& id, Answer<Video> done) {
  const std::optional<ViewVideo> video = reads_.Reached(reach, id);
  if (video) return wishes_.Cancel(video->key, std::move(done));
  // A video from before this server joined the fleet has ended and stays as it is.
  reads_.Find(reach, id,
              [done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> found) mutable {
                if (!found.ok()) return done(found.status());
                done((*found)->Snapshot());
              });
}

void FleetNode::Delete(const Reach& reach, const std::string& id,
                       absl::AnyInvocable<void(absl::Status)> done) {
  Know(reach, id, [this, reach, id, done = std::move(done)](const absl::Status& known) mutable {
    if (!known.ok()) return done(known);
    DeleteKnown(reach, id, std::move(done));
  });
}

void FleetNode::DeleteKnown(const Reach& reach, const std::string& id,
                            absl::AnyInvocable<void(absl::Status)> done) {
  const std::optional<ViewVideo> video = reads_.Reached(reach, id);
  if (!video) {
    if (reads_.IsFleets(id)) return done(reads_.WhyNot(reach, id));
    return ports_.jobs.Delete(reach, id, std::move(done));
  }
  if (video->live()) return done(VideoNotFinal(id));
  wishes_.Delete(video->key, std::move(done));
}

void FleetNode::Drain(absl::Duration propagation, absl::Duration limit,
                      absl::AnyInvocable<void()> done) {
  draining_ = true;
  holdings_.StartDrain();
  auto drained = ports_.thread.Here<bool>([this, done = std::move(done)](bool) mutable {
    holdings_.FinishDrain();
    state_.waiters.Add([this] { return holdings_.idle(); }, ports_.clock.Monotonic() + kLastWrites,
                       [done = std::move(done)](bool) mutable { done(); });
  });
  // Otherwise the dispatcher would wait for results that wait for the store.
  state_.waiters.Add([] { return false; }, ports_.clock.Monotonic() + propagation + limit,
                     [this](bool) { holdings_.StopDelivering(); });
  ports_.jobs.Drain(propagation, limit,
                    [drained = std::move(drained)]() mutable { drained(true); });
}

}  // namespace reel::front
