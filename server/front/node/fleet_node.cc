// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_node.h"

#include <optional>
#include <utility>
#include <vector>

#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_errors.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr int64_t kTicksPerSecond = 10;
// The janitor needs to know that a result has expired. A log of one's own has the view to itself,
// and so remembers a request id for a day beyond its video.
constexpr absl::Duration kKeepExpired = absl::Hours(1), kKeepExpiredAlone = absl::Hours(24);
// For what a drain gives back to be written.
constexpr absl::Duration kLastWrites = absl::Seconds(2);

// The video that a request goes on from.
FleetState::Key SourceOf(const NewJob& job) {
  return {job.tenant, IdOfName(job.spec.source->video)};
}

}  // namespace

FleetNode::FleetNode(const Parts& parts)
    : parts_(parts),
      index_({parts.serializer, parts.options.seal}),
      faces_(parts.view, {parts.serializer, parts.options.seal},
             {parts.options.node, parts.peers, parts.fetches}, parts.clock),
      barrier_(parts.port, parts.looks, parts.thread, parts.clock),
      beats_(parts.port, parts.jobs, parts.serializer, parts.options),
      clock_watch_(parts.port, parts.looks, parts.thread, parts.clock, parts.fitness,
                   parts.options),
      name_(parts.options, parts.fitness),
      deliveries_({parts.store, parts.uploads, parts.store_state, waiters_, parts.thread,
                   parts.options, parts.clock}),
      conditions_(parts.store, parts.reads, parts.store_state, parts.thread, parts.options),
      states_({parts.store, parts.uploads, parts.reads, parts.store_state, waiters_, parts.thread,
               parts.options, parts.clock}),
      sources_(parts.view, {parts.serializer, parts.options.seal}, parts.clock),
      inputs_(conditions_, states_, sources_),
      disk_(parts.probe, parts.probes, parts.thread, parts.fitness, parts.clock),
      janitor_({parts.store, parts.uploads, parts.store_state, parts.view, index_, beats_,
                parts.thread, parts.options, parts.clock}),
      holdings_({parts.jobs, parts.writes, parts.view, index_, faces_, waiters_, deliveries_,
                 inputs_, disk_, beats_, parts.thread, parts.waker, parts.options, parts.clock}),
      leftovers_(parts.jobs, parts.view, parts.thread, parts.options,
                 [this](Leftover leftover) { holdings_.Resume(std::move(leftover)); }),
      claimer_({parts.jobs, parts.writes, parts.view, index_, beats_, holdings_, deliveries_,
                parts.fitness, parts.thread, parts.options}),
      submission_({parts.jobs, parts.port, parts.writes, parts.view, index_, beats_, use_, faces_,
                   waiters_, conditions_, states_, sources_, holdings_, parts.thread, parts.options,
                   parts.clock}),
      wishes_({parts.writes, parts.view, index_, beats_, faces_, waiters_, parts.thread,
               parts.options, parts.clock}),
      reads_(parts.jobs, parts.view, faces_, parts.thread, parts.options, parts.clock),
      report_({parts.port, parts.writes, parts.view, index_, beats_, claimer_, holdings_,
               deliveries_, parts.store_state, parts.fitness, parts.clock, parts.options}),
      started_(parts.clock.Monotonic()),
      ticked_(started_),
      last_up_(started_) {}

void FleetNode::Settle() {
  const absl::Duration now = parts_.clock.Monotonic();
  WatchLease(now);
  const uint64_t told = parts_.view.told();
  TakeChanges();
  if (now - ticked_ >= kTick || ticks_ == 0) Tick(now);
  waiters_.Settle(now);
  barrier_.Settle(parts_.view.ready(), told);
  if (!parts_.view.ready()) return;
  if (!name_.holds()) return;
  leftovers_.Look();
  if (leftovers_.done() && parts_.port.IsUp() && !draining_) claimer_.Settle(now);
}

void FleetNode::TakeChanges() {
  const ViewChanges::Taken taken = parts_.changes.Take();
  if (taken.anew) {
    index_.Clear();
    use_.Clear();
    stale_ = true;
  }
  for (const auto& [key, change] : taken.videos) Learn(key, change);
  // What they have cost counts for their tenants on every server.
  for (const ViewBill& bill : taken.bills) use_.Ended(bill, parts_.clock.Wall());
  if (!taken.bills.empty()) index_.SetPaces(parts_.view.Paces());
  // Before all is known, what is not there yet may be.
  if (!parts_.view.ready()) {
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
  if (!faces_.any() || (!change.deleted && index_.FindLive(key) != nullptr)) return;
  const std::optional<ViewVideo> video = parts_.view.FindVideo(key);
  if (!video || video->facts.source.empty()) return;
  const Key source{key.first, video->facts.source};
  if (!faces_.Has(source)) return;
  if (const auto job = parts_.view.Find(source.first, source.second)) faces_.Update(source, *job);
}

void FleetNode::Learn(const Key& key, const ViewChange& change) {
  LearnSource(key, change);
  const bool was_live = index_.FindLive(key) != nullptr;
  if (!change.live && !change.deleted && !was_live && !faces_.Has(key)) return;
  const std::optional<FleetJob> job = parts_.view.Find(key.first, key.second);
  if (!job) return;  // only a trace is left
  index_.Update(key, *job);
  faces_.Update(key, *job);
  const KnownVideo* const live = index_.FindLive(key);
  if (live != nullptr && live->locked && !std::exchange(told_locked_, true)) {
    Log(LogLevel::kError,
        "Videos of the fleet are encrypted with a key that this server does not have; it leaves "
        "them to others",
        {{"video", key.second}});
  }
  if (!change.deleted) return;
  // Of what was deleted before this process began the sweep takes care.
  if (parts_.view.ready()) janitor_.OnDeleted(key, job->object);
  if (job->owner != parts_.options.node) return;
  deleting_.insert(key);
  DeleteHere(key);
}

// Its end may not be stored here yet: then it is tried again.
void FleetNode::DeleteHere(const Key& key) {
  parts_.jobs.Delete({key.first}, key.second,
                     parts_.thread.Here<absl::Status>([this, key](const absl::Status& status) {
                       if (!absl::IsFailedPrecondition(status)) deleting_.erase(key);
                     }));
}

void FleetNode::CountStates() {
  std::map<std::string, int64_t> bytes = parts_.view.StateBytes(parts_.clock.Wall());
  if (bytes == state_bytes_) return;
  state_bytes_ = bytes;
  parts_.jobs.SetKeptStates(std::move(bytes));
}

void FleetNode::Tick(absl::Duration now) {
  ticked_ = now;
  const bool each_second = ticks_++ % kTicksPerSecond == 0;
  beats_.Tick(now, {parts_.view.position(), static_cast<int>(holdings_.size()),
                    draining_ ? 0 : claimer_.idle(), draining_, parts_.fitness.Why(), name_.holds(),
                    name_.stands_by()});
  name_.Tick(now, beats_.nodes(), beats_.hears_since());
  parts_.ready_models.Set(beats_.ReadyModels(), beats_.KnowsModels(now));
  faces_.Tick(now);
  report_.Tick(now);
  if (each_second) parts_.status.Set(report_.Make());
  if (each_second && !parts_.options.alone) disk_.Tick();
  if (each_second) clock_watch_.Tick(now);
  if (!parts_.view.ready()) return;
  const bool waited = parts_.options.alone || now - started_ > parts_.options.silence;
  const bool strangers_may_go = leftovers_.done() && name_.holds() && waited;
  if (parts_.port.IsUp()) holdings_.SettleAll(strangers_may_go);
  if (!each_second) return;
  CountStates();
  faces_.Prune();
  parts_.view.ForgetExpired(parts_.clock.Wall() -
                            (parts_.options.alone ? kKeepExpiredAlone : kKeepExpired));
  deliveries_.Tick(now);
  // Each second, since a claim may have been on its way.
  if (!parts_.options.alone && !parts_.fitness.fit())
    holdings_.GiveBackUnsent(ReleaseReason::kUnfit);
  for (const Key& key : deleting_) DeleteHere(key);
  if (!parts_.port.IsUp()) return;
  // By a clock that may be wrong nobody's video is over.
  if (clock_watch_.agrees()) wishes_.Tick();
  janitor_.Tick(now);
}

// By the clock that others cannot see: whoever slept, or was cut off, may have been replaced.
void FleetNode::WatchLease(absl::Duration now) {
  if (parts_.options.alone) return;
  if (parts_.port.IsUp()) {
    last_up_ = now;
    cut_off_ = false;
  }
  const bool slept = now - ticked_ > parts_.options.lease;
  const bool was_cut_off = now - last_up_ > parts_.options.lease;
  if (slept || (was_cut_off && !std::exchange(cut_off_, true))) {
    name_.Drop(now);
    holdings_.StopAll();
  }
}

void FleetNode::Create(Submission::Call call) {
  call.made = [this, bound = call.job.bound](const std::string& id, bool is_new) {
    wishes_.Join(id, bound, is_new);
  };
  call.done = [this,
               done = std::move(call.done)](absl::StatusOr<std::shared_ptr<Job>> made) mutable {
    if (!made.ok()) return done(std::move(made));
    const Video video = (*made)->Snapshot();
    if (video.state != VideoState::kSucceeded) return done(std::move(made));
    // Its file may be here.
    reads_.Find({video.tenant}, video.id, std::move(done));
  };
  if (!call.job.spec.source) return submission_.Create(std::move(call));
  const Key source = SourceOf(call.job);
  Know({source.first}, source.second,
       [this, call = std::move(call)](const absl::Status& known) mutable {
         if (!known.ok()) return call.done(known);
         submission_.Create(std::move(call));
       });
}

void FleetNode::Validate(NewJob job, Answer<Video> done) {
  if (!job.spec.source) return submission_.Validate(std::move(job), std::move(done));
  FillFromSource(std::move(job),
                 [this, done = std::move(done)](absl::StatusOr<NewJob> filled) mutable {
                   if (!filled.ok()) return done(filled.status());
                   // The queue of one that is alone is its dispatcher's.
                   if (parts_.options.alone)
                     return parts_.jobs.Validate(*std::move(filled), std::move(done));
                   submission_.Validate(*std::move(filled), std::move(done));
                 });
}

void FleetNode::Estimate(NewJob job, Answer<CostEstimate> done) {
  FillFromSource(std::move(job),
                 [this, done = std::move(done)](absl::StatusOr<NewJob> filled) mutable {
                   if (!filled.ok()) return done(filled.status());
                   parts_.jobs.Estimate(*std::move(filled), std::move(done));
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
  // What is stored in one's own log is in the view.
  if (!parts_.options.alone && reads_.MayBeNew(reach, id)) return barrier_.Wait(std::move(then));
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
  // One of when this server was alone has ended: it stays as it is.
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
    return parts_.jobs.Delete(reach, id, std::move(done));
  }
  if (video->live()) return done(VideoStillLives(id));
  wishes_.Delete(video->key, std::move(done));
}

void FleetNode::Drain(absl::Duration propagation, absl::Duration limit,
                      absl::AnyInvocable<void()> done) {
  draining_ = true;
  holdings_.StartDrain();
  auto drained = parts_.thread.Here<bool>([this, done = std::move(done)](bool) mutable {
    holdings_.FinishDrain();
    waiters_.Add([this] { return holdings_.idle(); }, parts_.clock.Monotonic() + kLastWrites,
                 [done = std::move(done)](bool) mutable { done(); });
  });
  // The dispatcher would wait for what waits for the store.
  waiters_.Add([] { return false; }, parts_.clock.Monotonic() + propagation + limit,
               [this](bool) { holdings_.StopDelivering(); });
  parts_.jobs.Drain(propagation, limit,
                    [drained = std::move(drained)]() mutable { drained(true); });
}

}  // namespace reel::front
