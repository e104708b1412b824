// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/holdings.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/node/fleet_video.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Pause between tries to fetch a request's conditions.
constexpr absl::Duration kFetchPause = absl::Seconds(1);
// If a disk that passes its probe refuses a result twice, the result is too large.
constexpr int kTriesOfDisk = 2;

FinishKind KindOf(const Video& video) {
  return video.state == VideoState::kSucceeded ? FinishKind::kSucceeded : FinishKind::kFailed;
}

}  // namespace

void Holdings::Settle(const Key& key) {
  const auto found = held_.find(key);
  if (found != held_.end() && !IsMine(key, found->second.epoch)) {
    // If an end is being written, its write decides what became of the video.
    if (!found->second.ending) {
      const std::optional<ViewVideo> other = ports_.view.FindVideo(key);
      const bool is_taken = other && other->job.epoch > found->second.epoch;
      counts_.superseded += is_taken ? 1 : 0;
      Drop(key);
    }
  }
  const KnownVideo* const known = state_.index.FindLive(key);
  if (known == nullptr || !IsMine(key, known->epoch)) return;
  if (left_.contains(key)) return;
  const auto held = held_.find(key);
  if (held != held_.end()) {
    if (held->second.epoch != known->epoch || held->second.ending) return;
    if (!held->second.asked) return Begin(key, known->epoch);
    return TellWish(key, held->second);
  }
  const bool is_ours = claims_.contains({key, known->epoch});
  // A lone server's dispatcher keeps every admitted video, even in a drain.
  if (is_ours && (!draining_ || state_.options.alone)) return Begin(key, known->epoch);
  if (strangers_may_go_ && state_.options.alone && ports_.jobs.never_begun().contains(key.second)) {
    return TakeOver(key, known->epoch);
  }
  if (is_ours || strangers_may_go_) {
    Release(key, known->epoch, is_ours ? ReleaseReason::kShutdown : ReleaseReason::kRestart);
  }
}

void Holdings::SettleAll(bool strangers_may_go) {
  strangers_may_go_ = strangers_may_go;
  std::vector<Key> keys;
  for (const auto& [key, held] : held_) keys.push_back(key);
  for (const Key& key : state_.index.claimed()) {
    if (state_.index.FindLive(key)->owner == state_.options.node && !held_.contains(key)) {
      keys.push_back(key);
    }
  }
  for (const Key& key : keys) Settle(key);
  std::erase_if(claims_, [&](const Claim& claim) {
    const KnownVideo* const known = state_.index.FindLive(claim.first);
    if (known != nullptr) return known->epoch > claim.second;
    const std::optional<ViewVideo> ended = ports_.view.FindVideo(claim.first);
    return ended && !ended->live();
  });
}

void Holdings::Begin(const Key& key, uint32_t epoch) {
  const std::optional<FleetJob> job = ports_.view.Find(key.first, key.second);
  if (!job) return;
  auto video = state_.faces.Read(key, *job);
  if (!video.ok()) return;  // claimed videos can always be decoded
  Held& held = held_[key];
  held.epoch = epoch;
  if (ports_.clock.Monotonic() < held.not_before) return;
  held.asked = true;
  const Claim claim{key, epoch};
  AdoptedJob adopted{*std::move(video), epoch, AttemptOf(job->begun)};
  // A video that only ends needs no inputs.
  const KnownVideo& known = *state_.index.FindLive(key);
  const bool only_ends = known.wished || ports_.clock.Wall() >= known.deadline;
  if (only_ends) return Adopt(claim, std::move(adopted));
  const Video& asked = adopted.video;
  inputs_.Fetch(asked, [this, claim, adopted](Inputs::Blobs blobs) mutable {
    OnInputs(claim, std::move(adopted), std::move(blobs));
  });
}

void Holdings::Adopt(const Claim& claim, AdoptedJob job) {
  ports_.jobs.Adopt(std::move(job), ports_.thread.Here<absl::StatusOr<std::shared_ptr<Job>>>(
                                        [this, claim](auto adopted) {
                                          OnAdopted(claim.first, claim.second, std::move(adopted));
                                        }));
}

void Holdings::OnInputs(const Claim& claim, AdoptedJob job, Inputs::Blobs blobs) {
  const auto found = held_.find(claim.first);
  if (found == held_.end() || found->second.epoch != claim.second) return;
  if (blobs.ok()) {
    job.conditions = *std::move(blobs);
    return Adopt(claim, std::move(job));
  }
  if (ReasonOf(blobs.status())) return EndUnbegun(claim, std::move(job.video), blobs.status());
  found->second.asked = false;
  found->second.not_before = ports_.clock.Monotonic() + kFetchPause;
}

void Holdings::EndUnbegun(const Claim& claim, Video video, absl::Status error) {
  held_[claim.first].ending = true;
  video.state = VideoState::kFailed;
  video.error = std::move(error);
  video.end_time = ports_.clock.Wall();
  video.expire_time = video.end_time + kKeepFailed;
  FinishSaid said{state_.options.node, FinishKind::kFailed};
  said.video = state_.faces.Write(claim.first, video);
  WriteEnd(claim, std::move(said), ReasonOfEnd(video), [](const absl::Status&) {});
}

void Holdings::OnAdopted(const Key& key, uint32_t epoch, absl::StatusOr<std::shared_ptr<Job>> job) {
  const auto found = held_.find(key);
  // Dropped meanwhile; the dispatcher was told after it was told to start.
  if (found == held_.end() || found->second.epoch != epoch) return;
  if (!job.ok()) {
    found->second.asked = false;  // its previous attempt still ends here: retry soon
    return;
  }
  found->second.job = *job;
  // On a lone server no decision depends on a job's progress.
  if (!state_.options.alone) (*job)->Listen(waker_);
  state_.faces.SetLocal(key, *std::move(job));
  TellWish(key, found->second);
}

void Holdings::TellWish(const Key& key, Held& held) {
  const KnownVideo* const known = state_.index.FindLive(key);
  if (held.job == nullptr || held.wished || known == nullptr || !known->wished) return;
  held.wished = true;
  ports_.jobs.EndAdopted(key.second, WhyEnds(key, known->expires));
}

// The error given by the request to end the video.
absl::Status Holdings::WhyEnds(const Key& key, bool expires) const {
  if (expires) return MakeError(Reason::kDeadlinePassed, "The deadline passed");
  std::optional<FleetJob> job = ports_.view.Find(key.first, key.second);
  if (!job) return absl::OkStatus();
  job->video = std::move(job->wish_video);
  const absl::StatusOr<Video> wished = state_.faces.Read(key, *job);
  return wished.ok() ? wished->error : wished.status();
}

void Holdings::Drop(const Key& key) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  // The dispatcher knows the video only if adoption was requested.
  if (found->second.asked) ports_.jobs.Abandon(key.second);
  claims_.erase({key, found->second.epoch});
  held_.erase(found);
  state_.faces.SetLocal(key, nullptr);
}

void Holdings::Release(const Key& key, uint32_t epoch, ReleaseReason why) {
  if (!releasing_.insert(key).second) return;
  ++counts_.releases[static_cast<size_t>(why)];
  FinishSaid said{state_.options.node, FinishKind::kReleased};
  said.no_room = why == ReleaseReason::kNoRoom;
  ends_.Write(
      {{key, epoch}, std::move(said), TextOf(why), [this, key](bool) { releasing_.erase(key); }});
}

// Claims the video for this process, which starts it as a first owner would.
void Holdings::TakeOver(const Key& key, uint32_t epoch) {
  if (!releasing_.insert(key).second) return;
  Expect(key, epoch + 1);
  ports_.Write({key.first, key.second, LogKind::kClaim, epoch + 1},
               WriteClaim({state_.options.node, state_.options.address, /*goes_on=*/true}),
               absl::InfiniteDuration(), [this, key](const auto&) { releasing_.erase(key); });
}

bool Holdings::FitsNowhere(const Key& key) const {
  const std::optional<FleetJob> job = ports_.view.Find(key.first, key.second);
  const KnownVideo* const known = state_.index.FindLive(key);
  if (!job || known == nullptr) return false;
  std::map<std::string, int> tries = job->no_room;
  ++tries[state_.options.node];
  const std::set<std::string> nodes = state_.beats.NodesWith(known->model);
  return tries[state_.options.node] >= kTriesOfDisk &&
         std::all_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return tries[node] >= kTriesOfDisk; });
}

void Holdings::End(const std::string& id, uint32_t epoch, const Video& video,
                   uint64_t last_sequence, Done done) {
  const Claim claim{{video.tenant, id}, epoch};
  const auto found = held_.find(claim.first);
  if (found == held_.end() || found->second.epoch != epoch) {
    return done(absl::AbortedError("the video is no longer this server's"));
  }
  found->second.ending = true;
  // A lone server has no other disk to try.
  if (video.state != VideoState::kFailed || state_.options.alone) {
    return EndJudged(claim, video, last_sequence, std::move(done));
  }
  disk_.Judge(video.error,
              [this, claim, video, last_sequence, done = std::move(done)](bool of_disk) mutable {
                if (!of_disk || FitsNowhere(claim.first)) {
                  return EndJudged(claim, video, last_sequence, std::move(done));
                }
                if (IsMine(claim.first, claim.second)) {
                  Release(claim.first, claim.second, ReleaseReason::kNoRoom);
                }
                Withdraw(claim, std::move(done));
              });
}

void Holdings::EndJudged(const Claim& claim, const Video& video, uint64_t last_sequence,
                         Done done) {
  FinishSaid said{state_.options.node, KindOf(video)};
  said.video = state_.faces.Write(claim.first, video);
  said.last_sequence = last_sequence;
  if (video.state == VideoState::kSucceeded && deliveries_.enabled()) {
    return Deliver(claim, video, claim.second, std::move(said), std::move(done));
  }
  WriteEnd(claim, std::move(said), ReasonOfEnd(video), std::move(done));
}

void Holdings::Resume(Leftover leftover) {
  const Key key = leftover.key;
  const Video video = leftover.job->Snapshot();
  const KnownVideo* const known = state_.index.FindLive(key);
  if (known == nullptr || !IsMine(key, known->epoch) || held_.contains(key)) return;
  const Claim claim{key, known->epoch};
  Log(LogLevel::kInfo, "The result of a video that an earlier process has rendered is delivered",
      {{"video", key.second}});
  Held& held = held_[key];
  held.epoch = known->epoch;
  held.ending = true;
  FinishSaid said{state_.options.node, FinishKind::kSucceeded};
  said.video = state_.faces.Write(key, video);
  said.last_sequence = leftover.last_sequence;
  auto done = [this, leftover = std::move(leftover)](const absl::Status& counts) mutable {
    if (absl::IsCancelled(counts)) return;
    // Its readers read the file here.
    if (counts.ok()) return state_.faces.SetStored(leftover.key, std::move(leftover.job));
    ports_.jobs.Delete({leftover.key.first}, leftover.key.second, [](const absl::Status&) {});
  };
  if (deliveries_.enabled()) {
    return Deliver(claim, video, known->begun, std::move(said), std::move(done));
  }
  WriteEnd(claim, std::move(said), "", std::move(done));
}

bool Holdings::IsDelivering(const Claim& claim) const {
  const auto found = held_.find(claim.first);
  return delivers_ && found != held_.end() && found->second.epoch == claim.second &&
         found->second.delivering && IsMine(claim.first, claim.second);
}

// Uploads before the end is written: a success in the log always has its result.
void Holdings::Deliver(const Claim& claim, const Video& video, uint32_t begun, FinishSaid said,
                       Done done) {
  held_[claim.first].delivering = true;
  said.object_bytes = video.media.size_bytes;
  said.object_sha256 = video.media.sha256;
  deliveries_.Deliver(
      video, begun, [this, claim] { return IsDelivering(claim); },
      [this, claim, said = std::move(said),
       done = std::move(done)](const absl::StatusOr<std::string>& key) mutable {
        if (!delivers_ && !key.ok()) return Leave(claim, std::move(done));
        if (!IsMine(claim.first, claim.second)) return Withdraw(claim, std::move(done));
        if (!key.ok()) {
          // The file differs from what was rendered: release the video to be rendered again.
          Release(claim.first, claim.second, ReleaseReason::kDelivery);
          return Withdraw(claim, std::move(done));
        }
        const auto found = held_.find(claim.first);
        if (found != held_.end()) found->second.delivering = false;
        said.object = *key;
        WriteEnd(claim, std::move(said), "", std::move(done));
      });
}

void Holdings::Withdraw(const Claim& claim, Done done) {
  const auto found = held_.find(claim.first);
  if (found != held_.end() && found->second.epoch == claim.second) {
    held_.erase(found);
    state_.faces.SetLocal(claim.first, nullptr);
  }
  claims_.erase(claim);
  done(absl::AbortedError("the video is no longer this server's"));
}

void Holdings::Leave(const Claim& claim, Done done) {
  held_.erase(claim.first);
  left_.insert(claim.first);
  done(absl::CancelledError("the next process of this node delivers it"));
}

void Holdings::WriteEnd(const Claim& claim, FinishSaid said, std::string reason, Done done) {
  ends_.Write({claim, std::move(said), std::move(reason),
               [this, claim, done = std::move(done)](bool counts) mutable {
                 Confirm(claim, counts, std::move(done));
               }});
}

void Holdings::Confirm(const Claim& claim, bool counts, Done done) {
  held_.erase(claim.first);
  claims_.erase(claim);
  if (counts) {
    state_.faces.Ended(claim.first);
    return done(absl::OkStatus());
  }
  state_.faces.SetLocal(claim.first, nullptr);
  done(absl::AbortedError("the end does not count: the video is no longer this server's"));
}

void Holdings::GiveBack(const std::vector<Key>& keys, ReleaseReason why) {
  for (const Key& key : keys) {
    const uint32_t epoch = held_[key].epoch;
    Drop(key);
    Release(key, epoch, why);
  }
}

std::vector<Holdings::Key> Holdings::NotEnding() const {
  std::vector<Key> keys;
  for (const auto& [key, held] : held_) {
    if (!held.ending) keys.push_back(key);
  }
  return keys;
}

void Holdings::StopAll() {
  const std::vector<Key> keys = NotEnding();
  if (keys.empty()) return;
  Log(LogLevel::kWarning, "The lease is over: videos of this node are given back",
      {{"videos", keys.size()}});
  GiveBack(keys, ReleaseReason::kLease);
}

void Holdings::GiveBackUnsent(ReleaseReason why) {
  ports_.jobs.AbandonUnsent(ports_.thread.Here<std::vector<std::string>>(
      [this, why](const std::vector<std::string>& ids) {
        std::vector<Key> keys;
        for (const auto& [key, held] : held_) {
          const bool given = std::find(ids.begin(), ids.end(), key.second) != ids.end();
          if (given || !held.asked) keys.push_back(key);
        }
        GiveBack(keys, why);
      }));
}

void Holdings::StartDrain() {
  draining_ = true;
  if (!state_.options.alone) GiveBackUnsent(ReleaseReason::kShutdown);
}

// Each upload checks this and then leaves its video as it is.
void Holdings::StopDelivering() { delivers_ = false; }

void Holdings::FinishDrain() {
  if (!state_.options.alone) return GiveBack(NotEnding(), ReleaseReason::kShutdown);
  // The next process finds all of it.
  for (const Key& key : NotEnding()) {
    left_.insert(key);
    held_.erase(key);
  }
}

std::vector<Holdings::Key> Holdings::Waiting() const {
  std::vector<Key> waiting;
  for (const auto& [key, held] : held_) {
    if (held.ending) continue;
    if (held.job == nullptr || held.job->state() == VideoState::kQueued) waiting.push_back(key);
  }
  return waiting;
}

}  // namespace reel::front
