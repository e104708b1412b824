// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/submission.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/means.h"
#include "server/front/node/request_turns.h"
#include "server/front/node/view_barrier.h"

namespace reel::front {
namespace {

using Outcome = WriteResult::Outcome;

// Limit for the whole way through the log; a caller's deadline may be sooner.
constexpr absl::Duration kWayPatience = absl::Seconds(10);
// How long the call that bound a request id has to write its videos.
constexpr absl::Duration kUntilRequested = absl::Seconds(1);
constexpr absl::Duration kForAnAnswer = absl::Seconds(1);  // then gives up
// Each round is lost to another call that was quicker.
constexpr int kMostRounds = 8;
constexpr int kMostOpen = 4096;

}  // namespace

absl::Status Submission::Takes(const NewJob& job) const {
  if (!job.spec.conditions.empty() && !conditions_.enabled()) {
    return MakeInvalid(Reason::kInvalidSpec,
                       {{"spec.conditions", "a fleet without an object store takes none"}});
  }
  if (!ports_.view.ready() || !ports_.port.IsUp()) {
    return FleetUnavailable("The fleet's log cannot be reached");
  }
  if (open_ >= kMostOpen) return FleetUnavailable("Too many requests wait for the fleet's log");
  return absl::OkStatus();
}

// Each server's limit applies to its share of the queue.
NewJob::FleetLoad Submission::Load(const std::string& tenant) const {
  const int serving = state_.beats.NumServing();
  NewJob::FleetLoad load{(state_.index.queued() + serving - 1) / serving,
                         state_.index.Live(tenant)};
  for (const auto& [model, waiting] : state_.index.backlog().models()) {
    if (waiting.is_known()) load.backlog += absl::Seconds(waiting.seconds());
  }
  load.devices = state_.beats.NumDevices();
  load.tenant_backlog = absl::Seconds(state_.index.LiveSeconds(tenant));
  load.tenant_device_seconds = state_.use.DeviceSecondsOfHour(tenant, ports_.clock.Wall());
  return load;
}

void Submission::Validate(NewJob job, Answer<Video> done) {
  if (absl::Status taken = Takes(job); !taken.ok()) return done(std::move(taken));
  job.fleet_load = Load(job.tenant);
  ports_.jobs.Validate(std::move(job), std::move(done));
}

void Submission::Create(Call call) {
  auto attempt = std::make_shared<Attempt>(std::move(call));
  attempt->end = ports_.clock.Monotonic() + kWayPatience;
  if (attempt->reserved) {
    attempt->video = *std::move(attempt->reserved);
    attempt->reservation = attempt->video.id;
  }
  const absl::Status taken = Takes(attempt->job);
  ++open_;
  if (!taken.ok()) return Refuse(attempt, taken);
  if (attempt->reserved) return Keep(attempt);
  Next(attempt);
}

void Submission::Leave(const Attempt& attempt) {
  --open_;
  if (attempt.reservation.empty()) return;
  for (int place = 0; place < attempt.job.count; ++place) {
    const std::string id = OtherVideoId(attempt.reservation, place);
    const bool taken_up =
        attempt.video.id == attempt.reservation && state_.faces.RunsHere({attempt.job.tenant, id});
    if (!taken_up) ports_.jobs.DropReservation(id);
  }
}

std::vector<Submission::Key> Submission::KeysOf(const Attempt& attempt, const std::string& first) {
  std::vector<Key> keys;
  for (int place = 0; place < attempt.job.count; ++place) {
    keys.emplace_back(attempt.job.tenant, OtherVideoId(first, place));
  }
  return keys;
}

absl::Duration Submission::Patience(const Attempt& attempt) const {
  return std::max(attempt.end - ports_.clock.Monotonic(), absl::ZeroDuration());
}

void Submission::Next(const Shared& attempt) {
  if (++attempt->rounds > kMostRounds || Patience(*attempt) <= absl::ZeroDuration()) {
    return Refuse(attempt, NotWritten(absl::OkStatus()));
  }
  if (!attempt->job.request_id.empty() && Join(attempt) != Bound::kFree) return;
  if (!attempt->checked) return Check(attempt);
  const bool binds = !attempt->job.request_id.empty();
  if (state_.options.alone) return RequestAlone(attempt, binds);
  binds ? Bind(attempt) : Request(attempt);
}

// Accepts the hash by any of the fleet's keys, since another server may have bound it.
bool Submission::IsOfSpec(const Attempt& attempt, const std::string& bound) const {
  const std::vector<std::string> names = SpecNames(attempt);
  return std::find(names.begin(), names.end(), bound) != names.end();
}

std::vector<std::string> Submission::SpecNames(const Attempt& attempt) const {
  return state_.options.seal.NamesFor("spec/" + attempt.job.tenant, attempt.spec_hash);
}

// Answers with the videos of a known request id.
Submission::Bound Submission::Join(const Shared& attempt) {
  const std::string& tenant = attempt->job.tenant;
  const auto binding = ports_.view.FindBinding(tenant, attempt->job.request_id);
  attempt->number = binding ? binding->number + 1 : 1;
  if (!binding) return Bound::kFree;
  const Fates fates = FatesOf(ports_.view, KeysOf(*attempt, binding->video), ports_.clock.Wall());
  if (fates.without_result == attempt->job.count) return Bound::kFree;
  const bool is_unknown = fates.unknown == attempt->job.count;
  absl::Status refused;
  if (fates.locked) {
    refused = VideoLocked(binding->video);
  } else if (!is_unknown && fates.shown.empty()) {
    refused = RequestIdGone(attempt->job.request_id);
  } else if (!IsOfSpec(*attempt, binding->spec_hash)) {
    refused = RequestIdTaken(attempt->job.request_id, binding->video);
  }
  if (!refused.ok()) {
    Refuse(attempt, refused);
    return Bound::kAnswered;
  }
  if (is_unknown) {
    AwaitRequest(attempt, {tenant, binding->video});
    return Bound::kWaits;
  }
  if (fates.end_soon && !std::exchange(attempt->awaited_ends, true)) {
    // The id is free once the videos have ended. If that takes too long, answers with them.
    state_.waiters.Add(
        [this, keys = KeysOf(*attempt, binding->video)] {
          return !FatesOf(ports_.view, keys, ports_.clock.Wall()).end_soon;
        },
        attempt->end - kForAnAnswer, [this, attempt](bool) { Next(attempt); });
    return Bound::kWaits;
  }
  attempt->video.id = binding->video;
  Tell(attempt, fates.shown);
  return Bound::kAnswered;
}

void Submission::AwaitRequest(const Shared& attempt, const Key& first) {
  state_.waiters.Add(
      [this, first] { return ports_.view.Find(first.first, first.second).has_value(); },
      ports_.clock.Monotonic() + kUntilRequested,
      [this, attempt, first](bool there) {
        if (there) return Next(attempt);
        if (!attempt->checked) return Check(attempt);
        attempt->video.id = first.second;
        state_.options.alone ? RequestAlone(attempt, false) : Request(attempt);
      });
}

void Submission::Check(const Shared& attempt) {
  if (!attempt->files.ok()) return Refuse(attempt, attempt->files);
  if (attempt->job.spec.source) {
    const absl::Status filled = sources_.Fill(attempt->job);
    if (!filled.ok()) return Refuse(attempt, filled);
  }
  NewJob job = attempt->job;
  auto checked =
      ports_.thread.Here<absl::StatusOr<Video>>([this, attempt](absl::StatusOr<Video> video) {
        if (!video.ok()) return Refuse(attempt, video.status());
        attempt->video = *std::move(video);
        attempt->reservation = attempt->video.id;
        Keep(attempt);
      });
  // A lone server's dispatcher has the whole queue and counts reservations.
  if (state_.options.alone) return ports_.jobs.Reserve(std::move(job), std::move(checked));
  job.fleet_load = Load(job.tenant);
  ports_.jobs.Validate(std::move(job), std::move(checked));
}

void Submission::CheckState(const Shared& attempt) {
  const model::GenerationSpec& spec = attempt->video.spec;
  const std::string id = IdOfName(spec.source->video);
  const std::optional<ViewVideo> source = sources_.Find(attempt->job.tenant, spec);
  if (!source) return Refuse(attempt, StateGone(id, "it was removed meanwhile"));
  states_.Fetch(*source, spec.source->state_sha256,
                [this, attempt, id](const absl::StatusOr<States::Blob>& blob) {
                  if (absl::IsDataLoss(blob.status())) {
                    return Refuse(attempt, StateGone(id, blob.status().message()));
                  }
                  if (!blob.ok()) {
                    return Refuse(attempt, FleetUnavailable("The store of states cannot be "
                                                            "read"));
                  }
                  attempt->checked = true;
                  Next(attempt);
                });
}

void Submission::Keep(const Shared& attempt) {
  if (attempt->job.spec.source) return CheckState(attempt);
  const auto kept = [this, attempt](const absl::Status& status) {
    if (ReasonOf(status) == Reason::kFileNotFound) return Refuse(attempt, status);
    if (!status.ok()) {
      return Refuse(attempt,
                    state_.options.alone
                        ? NotWritten(status)
                        : FleetUnavailable("The fleet's store does not take the conditions"));
    }
    attempt->checked = true;
    Next(attempt);
  };
  const Conditions::List& conditions = attempt->job.spec.conditions;
  if (conditions.empty()) return kept(absl::OkStatus());
  conditions_.Keep(attempt->job.tenant, conditions, kept);
}

void Submission::Bind(const Shared& attempt) {
  const std::string& tenant = attempt->job.tenant;
  const std::string& request_id = attempt->job.request_id;
  attempt->video.id = NewVideoId(state_.options.fleet);
  const uint32_t number = attempt->number;
  ports_.Write({tenant, request_id, LogKind::kBinding, number},
               WriteBinding({attempt->video.id, SpecNames(*attempt).front()}), Patience(*attempt),
               [this, attempt, number](const auto& written) { OnBound(attempt, number, written); });
}

void Submission::OnBound(const Shared& attempt, uint32_t number,
                         const absl::StatusOr<WriteResult>& written) {
  if (!written.ok() || written->outcome == Outcome::kUnknown) {
    return Refuse(attempt, NotWritten(written.status()));
  }
  // Whoever wrote it, a binding exists.
  const auto bound = [this, attempt] {
    return ports_.view.FindBinding(attempt->job.tenant, attempt->job.request_id);
  };
  state_.waiters.Add(
      [bound, number] {
        const auto binding = bound();
        return binding && binding->number >= number;
      },
      attempt->end,
      [this, attempt, bound](bool there) {
        if (!there) return Refuse(attempt, NotWritten(absl::OkStatus()));
        // The view may have been rebuilt since.
        const auto binding = bound();
        if (binding && binding->video == attempt->video.id) return Request(attempt);
        Next(attempt);
      });
}

void Submission::Request(const Shared& attempt) {
  if (attempt->video.id.empty()) attempt->video.id = NewVideoId(state_.options.fleet);
  // Without streaming between nodes, only callers of the rendering node get the bytes.
  const bool stays = !state_.options.hears_others && attempt->job.bound &&
                     MeansOf(ports_.jobs).models.contains(attempt->video.spec.model);
  ports_.Write({attempt->job.tenant, attempt->video.id, LogKind::kRequest, 0},
               RequestOf(*attempt, stays ? state_.options.node : ""), Patience(*attempt),
               [this, attempt](const auto& written) { OnRequested(attempt, written); });
}

std::string Submission::RequestOf(const Attempt& attempt, const std::string& caller_node) const {
  RequestSaid said;
  said.caller_node = caller_node;
  const std::vector<Key> keys = KeysOf(attempt, attempt.video.id);
  for (int place = 0; place < attempt.job.count; ++place) {
    const Key& key = keys[static_cast<size_t>(place)];
    std::string video = state_.faces.Write(key, VideoAt(attempt.video, place));
    if (place == 0) {
      said.video = std::move(video);
    } else {
      said.others.push_back({key.second, std::move(video)});
    }
  }
  return WriteRequest(said);
}

void Submission::RequestAlone(const Shared& attempt, bool binds) {
  const std::string& tenant = attempt->job.tenant;
  const std::vector<Key> keys = KeysOf(*attempt, attempt->video.id);
  std::vector<LogMessage> messages;
  if (binds) {
    messages.push_back({{tenant, attempt->job.request_id, LogKind::kBinding, attempt->number},
                        WriteBinding({attempt->video.id, SpecNames(*attempt).front()})});
  }
  messages.push_back({{tenant, attempt->video.id, LogKind::kRequest, 0}, RequestOf(*attempt, "")});
  for (const Key& key : keys) {
    messages.push_back({{tenant, key.second, LogKind::kClaim, 1},
                        WriteClaim({state_.options.node, state_.options.address})});
    holdings_.Expect(key, 1);
  }
  attempt->written.reset();
  attempt->is_new = true;
  ports_.writes.PutTogether(std::move(messages), Patience(*attempt),
                            ports_.thread.Here<absl::StatusOr<WriteResult>>(
                                [attempt](absl::StatusOr<WriteResult> written) {
                                  attempt->written = std::move(written);
                                }));
  const auto all_run = [this, keys] {
    return std::all_of(keys.begin(), keys.end(),
                       [this](const Key& key) { return state_.faces.RunsHere(key); });
  };
  // The view may start the videos before the log's thread has answered.
  state_.waiters.Add(
      [this, attempt, keys, all_run] {
        if (all_run()) return true;
        if (!attempt->written) return false;
        const bool won = attempt->written->ok() && (*attempt->written)->outcome == Outcome::kWon;
        return !won || std::all_of(keys.begin(), keys.end(),
                                   [this](const Key& key) { return IsTakenUp(key); });
      },
      attempt->end,
      [this, attempt, all_run](bool there) {
        if (all_run()) return Tell(attempt);
        if (!there) return Refuse(attempt, NotWritten(absl::OkStatus()));
        if (!attempt->written->ok()) return Refuse(attempt, NotWritten(attempt->written->status()));
        if ((*attempt->written)->outcome == Outcome::kWon) return Tell(attempt);
        attempt->is_new = false;
        Next(attempt);
      });
}

bool Submission::IsTakenUp(const Key& key) const {
  if (state_.faces.RunsHere(key)) return true;
  const KnownVideo* const live = state_.index.FindLive(key);
  // A drain may have left it to the next process.
  if (live != nullptr) return live->phase == FleetPhase::kQueued;
  // The view may be newer than the index.
  const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
  return video && !video->live();
}

void Submission::OnRequested(const Shared& attempt, const absl::StatusOr<WriteResult>& written) {
  if (!written.ok() || written->outcome == Outcome::kUnknown) {
    return Refuse(attempt, NotWritten(written.status()));
  }
  attempt->is_new = written->outcome == Outcome::kWon;
  // Answers once the videos are read back, whichever call with this request id wrote them.
  // Quotas count what is in the index, so the caller's next request counts this one.
  const auto is_known = [this, sequence = written->sequence](const Key& key) {
    if (state_.index.FindLive(key) != nullptr) return true;
    if (ports_.view.position() < sequence) return false;
    const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
    return video && !video->live();
  };
  const auto all_known = [is_known, keys = KeysOf(*attempt, attempt->video.id)] {
    return std::all_of(keys.begin(), keys.end(), is_known);
  };
  state_.waiters.Add(all_known, attempt->end, [this, attempt](bool there) {
    if (!there) return Refuse(attempt, NotWritten(absl::OkStatus()));
    Tell(attempt);
  });
}

void Submission::Tell(const Shared& attempt, const std::vector<Key>& keys) {
  Leave(*attempt);
  Jobs jobs;
  for (const Key& key : keys) {
    std::shared_ptr<FleetVideo> face = state_.faces.Find(key);
    if (face == nullptr) {
      return attempt->done(FleetUnavailable("The fleet's log has lost the video"));
    }
    jobs.push_back(std::move(face));
  }
  if (attempt->made) {
    for (const Key& key : keys) attempt->made(key.second, attempt->is_new);
  }
  attempt->done(std::move(jobs));
}

void Submission::Refuse(const Shared& attempt, const absl::Status& why) {
  Leave(*attempt);
  attempt->done(why);
}

}  // namespace reel::front
