// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/holdings.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// A message that was written is folded far sooner.
constexpr absl::Duration kFoldPatience = absl::Seconds(10);
// Between two looks at a store that does not give what a request came with.
constexpr absl::Duration kFetchPause = absl::Seconds(1);
constexpr absl::Duration kKeepFailed = absl::Hours(1);

// As the log has it.
const char* TextOf(ReleaseReason why) {
  switch (why) {
    case ReleaseReason::kShutdown:
      return "the node shuts down";
    case ReleaseReason::kRestart:
      return "the node was started anew";
    case ReleaseReason::kLease:
      return "the lease was over";
    case ReleaseReason::kDelivery:
      return "the result could not be brought into the store";
  }
  return "";
}

FinishKind KindOf(const Video& video) {
  return video.state == VideoState::kSucceeded ? FinishKind::kSucceeded : FinishKind::kFailed;
}

std::string ReasonOfEnd(const Video& video) {
  const std::optional<Reason> reason = ReasonOf(video.error);
  return std::string(reason ? Describe(*reason).name : "");
}

}  // namespace

bool Holdings::IsMine(const Key& key, uint32_t epoch) const {
  const KnownVideo* const known = parts_.index.Find(key);
  return known != nullptr && known->phase == FleetPhase::kClaimed && known->epoch == epoch &&
         known->owner == parts_.options.node;
}

void Holdings::Settle(const Key& key) {
  const auto found = held_.find(key);
  if (found != held_.end() && !IsMine(key, found->second.epoch)) {
    // Of one whose end is being written the writing says what became of it.
    if (!found->second.ending) {
      const KnownVideo* const other = parts_.index.Find(key);
      const bool is_taken = other != nullptr && other->epoch > found->second.epoch;
      counts_.superseded += is_taken ? 1 : 0;
      Drop(key);
    }
  }
  const KnownVideo* const known = parts_.index.Find(key);
  if (known == nullptr || !IsMine(key, known->epoch)) return;
  const auto held = held_.find(key);
  if (held != held_.end()) {
    if (held->second.epoch != known->epoch || held->second.ending) return;
    if (!held->second.asked) return Begin(key, known->epoch);
    return TellWish(key, held->second);
  }
  const bool is_ours = claims_.contains({key, known->epoch});
  if (is_ours && !draining_) return Begin(key, known->epoch);
  if (is_ours || strangers_may_go_) {
    Release(key, known->epoch, is_ours ? ReleaseReason::kShutdown : ReleaseReason::kRestart);
  }
}

void Holdings::SettleAll(bool strangers_may_go) {
  strangers_may_go_ = strangers_may_go;
  std::vector<Key> keys;
  for (const auto& [key, held] : held_) keys.push_back(key);
  for (const Key& key : parts_.index.claimed()) {
    if (parts_.index.Find(key)->owner == parts_.options.node && !held_.contains(key)) {
      keys.push_back(key);
    }
  }
  for (const Key& key : keys) Settle(key);
  std::erase_if(claims_, [&](const Claim& claim) {
    const KnownVideo* const known = parts_.index.Find(claim.first);
    return known != nullptr && (!known->live() || known->epoch > claim.second);
  });
}

void Holdings::Begin(const Key& key, uint32_t epoch) {
  const std::optional<FleetJob> job = parts_.view.Find(key.first, key.second);
  if (!job) return;
  auto video = parts_.faces.Read(key, *job);
  if (!video.ok()) return;  // none that is claimed cannot be read
  Held& held = held_[key];
  held.epoch = epoch;
  if (parts_.clock.Monotonic() < held.not_before) return;
  held.asked = true;
  const Claim claim{key, epoch};
  AdoptedJob adopted{*std::move(video), epoch, AttemptOf(epoch)};
  const Conditions::List conditions = adopted.video.spec.conditions;
  // What only ends needs none; without a store nobody has taken any.
  const KnownVideo& known = *parts_.index.Find(key);
  const bool only_ends = known.wished || parts_.clock.Wall() >= known.deadline;
  if (conditions.empty() || only_ends || !parts_.conditions.enabled()) {
    return Adopt(claim, std::move(adopted));
  }
  parts_.conditions.Fetch(key.first, conditions,
                          [this, claim, adopted = std::move(adopted)](auto blobs) mutable {
                            OnConditions(claim, std::move(adopted), std::move(blobs));
                          });
}

void Holdings::Adopt(const Claim& claim, AdoptedJob job) {
  parts_.jobs.Adopt(std::move(job), parts_.thread.Here<absl::StatusOr<std::shared_ptr<Job>>>(
                                        [this, claim](auto adopted) {
                                          OnAdopted(claim.first, claim.second, std::move(adopted));
                                        }));
}

void Holdings::OnConditions(const Claim& claim, AdoptedJob job,
                            absl::StatusOr<std::vector<Conditions::Blob>> blobs) {
  const auto found = held_.find(claim.first);
  if (found == held_.end() || found->second.epoch != claim.second) return;
  if (blobs.ok()) {
    job.conditions = *std::move(blobs);
    return Adopt(claim, std::move(job));
  }
  if (absl::IsDataLoss(blobs.status())) return EndWithoutConditions(claim, std::move(job.video));
  found->second.asked = false;
  found->second.not_before = parts_.clock.Monotonic() + kFetchPause;
}

// Nobody can render it.
void Holdings::EndWithoutConditions(const Claim& claim, Video video) {
  held_[claim.first].ending = true;
  video.state = VideoState::kFailed;
  video.error = MakeError(Reason::kInternal, "The fleet's store has lost what the video came with");
  video.end_time = parts_.clock.Wall();
  video.expire_time = video.end_time + kKeepFailed;
  Ending ending{claim,
                {parts_.options.node, FinishKind::kFailed},
                ReasonOfEnd(video),
                [](const absl::Status&) {}};
  ending.said.video = parts_.faces.Write(video);
  WriteEnd(std::move(ending));
}

void Holdings::OnAdopted(const Key& key, uint32_t epoch, absl::StatusOr<std::shared_ptr<Job>> job) {
  const auto found = held_.find(key);
  // Dropped meanwhile: the dispatcher has been told, after it was told to begin.
  if (found == held_.end() || found->second.epoch != epoch) return;
  if (!job.ok()) {
    found->second.asked = false;  // its last attempt still ends here: tried again soon
    return;
  }
  found->second.job = *job;
  (*job)->Listen(parts_.waker);
  parts_.faces.SetLocal(key, *std::move(job));
  TellWish(key, found->second);
}

void Holdings::TellWish(const Key& key, Held& held) {
  const KnownVideo* const known = parts_.index.Find(key);
  if (held.job == nullptr || held.wished || known == nullptr || !known->wished) return;
  held.wished = true;
  parts_.jobs.EndAdopted(key.second, known->expires);
}

void Holdings::Drop(const Key& key) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  // Where it has not been adopted yet the dispatcher knows nothing of it.
  if (found->second.asked) parts_.jobs.Abandon(key.second);
  claims_.erase({key, found->second.epoch});
  held_.erase(found);
  parts_.faces.SetLocal(key, nullptr);
}

void Holdings::Release(const Key& key, uint32_t epoch, ReleaseReason why) {
  const Claim claim{key, epoch};
  if (!releasing_.insert(claim).second) return;
  ++counts_.releases[static_cast<size_t>(why)];
  FinishSaid said{parts_.options.node, FinishKind::kReleased};
  parts_.writes.Put({key.first, key.second, LogKind::kFinish, epoch},
                    WriteFinish(said, TextOf(why)), absl::InfiniteDuration(),
                    parts_.thread.Here<absl::StatusOr<WriteResult>>([this, claim](auto written) {
                      if (!written.ok()) {
                        Log(LogLevel::kError, "A video could not be given back to the fleet",
                            {{"video", claim.first.second}, {"error", written.status()}});
                      }
                      // Until the view shows it, it must not be written again.
                      parts_.waiters.Add(
                          [this, claim] { return !IsMine(claim.first, claim.second); },
                          parts_.clock.Monotonic() + kFoldPatience,
                          [this, claim](bool) { releasing_.erase(claim); });
                    }));
}

void Holdings::End(const std::string& id, uint32_t epoch, const Video& video,
                   uint64_t last_sequence, absl::AnyInvocable<void(absl::Status)> done) {
  const Claim claim{{video.tenant, id}, epoch};
  const auto found = held_.find(claim.first);
  if (found == held_.end() || found->second.epoch != epoch) {
    return done(absl::AbortedError("the video is no longer this server's"));
  }
  found->second.ending = true;
  Ending ending{claim, {parts_.options.node, KindOf(video)}, ReasonOfEnd(video), std::move(done)};
  ending.said.video = parts_.faces.Write(video);
  ending.said.last_sequence = last_sequence;
  const bool delivers = video.state == VideoState::kSucceeded && parts_.deliveries.enabled();
  if (!delivers) return WriteEnd(std::move(ending));
  if (!delivers_) {
    Release(claim.first, epoch, ReleaseReason::kShutdown);
    return Withdraw(claim, std::move(ending.done));
  }
  found->second.delivering = true;
  Deliver(std::move(ending), video);
}

bool Holdings::IsDelivering(const Claim& claim) const {
  const auto found = held_.find(claim.first);
  return found != held_.end() && found->second.epoch == claim.second && found->second.delivering &&
         IsMine(claim.first, claim.second);
}

// Who reads in the log of a success finds its result.
void Holdings::Deliver(Ending ending, const Video& video) {
  ending.said.object_bytes = video.media.size_bytes;
  ending.said.object_sha256 = video.media.sha256;
  const Claim claim = ending.claim;
  parts_.deliveries.Deliver(
      video, claim.second, [this, claim] { return IsDelivering(claim); },
      [this, ending = std::move(ending)](const absl::StatusOr<std::string>& key) mutable {
        const Claim& of = ending.claim;
        if (!IsDelivering(of)) return Withdraw(of, std::move(ending.done));
        if (!key.ok()) {
          // What is on this disk is not what was rendered: somebody renders it again.
          Release(of.first, of.second, ReleaseReason::kDelivery);
          return Withdraw(of, std::move(ending.done));
        }
        held_[of.first].delivering = false;
        ending.said.object = *key;
        WriteEnd(std::move(ending));
      });
}

void Holdings::Withdraw(const Claim& claim, absl::AnyInvocable<void(absl::Status)> done) {
  const auto found = held_.find(claim.first);
  if (found != held_.end() && found->second.epoch == claim.second) {
    held_.erase(found);
    parts_.faces.SetLocal(claim.first, nullptr);
  }
  claims_.erase(claim);
  done(absl::AbortedError("the video is no longer this server's"));
}

void Holdings::WriteEnd(Ending ending) {
  const auto& [key, epoch] = ending.claim;
  const LogSubject subject{key.first, key.second, LogKind::kFinish, epoch};
  std::string message = WriteFinish(ending.said, ending.reason);
  parts_.writes.Put(
      subject, std::move(message), absl::InfiniteDuration(),
      parts_.thread.Here<absl::StatusOr<WriteResult>>(
          [this, claim = ending.claim, done = std::move(ending.done)](auto written) mutable {
            OnEndWritten(claim, written, std::move(done));
          }));
}

void Holdings::OnEndWritten(const Claim& claim, const absl::StatusOr<WriteResult>& written,
                            absl::AnyInvocable<void(absl::Status)> done) {
  if (!written.ok()) {
    Log(LogLevel::kError, "The end of a video cannot be written into the fleet's log",
        {{"video", claim.first.second}, {"error", written.status()}});
    EndWithoutVideo(claim);
  }
  const bool won = written.ok() && written->outcome == WriteResult::Outcome::kWon;
  const uint64_t sequence = won ? written->sequence : 0;
  parts_.waiters.Add(
      [this, claim, won, sequence] {
        return won ? parts_.view.position() >= sequence && !IsMine(claim.first, claim.second)
                   : !IsMine(claim.first, claim.second);
      },
      parts_.clock.Monotonic() + kFoldPatience,
      [this, claim, done = std::move(done)](bool) mutable { Confirm(claim, std::move(done)); });
}

// No broker takes it, and none would from the node that would render it next: it must end all the
// same.
void Holdings::EndWithoutVideo(const Claim& claim) {
  const auto& [key, epoch] = claim;
  parts_.writes.Put({key.first, key.second, LogKind::kFinish, epoch},
                    WriteFinish({parts_.options.node, FinishKind::kFailed}, "INTERNAL"),
                    absl::InfiniteDuration(), [](const absl::StatusOr<WriteResult>&) {});
}

// Whatever was answered, the view says whether the end counts.
void Holdings::Confirm(const Claim& claim, absl::AnyInvocable<void(absl::Status)> done) {
  const KnownVideo* const known = parts_.index.Find(claim.first);
  const bool counts = known != nullptr && !known->live() && known->epoch == claim.second &&
                      known->owner == parts_.options.node;
  held_.erase(claim.first);
  claims_.erase(claim);
  if (counts) {
    parts_.faces.Ended(claim.first);
    return done(absl::OkStatus());
  }
  parts_.faces.SetLocal(claim.first, nullptr);
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

void Holdings::StartDrain() {
  draining_ = true;
  parts_.jobs.AbandonUnsent(
      parts_.thread.Here<std::vector<std::string>>([this](const std::vector<std::string>& ids) {
        std::vector<Key> keys;
        for (const auto& [key, held] : held_) {
          const bool given = std::find(ids.begin(), ids.end(), key.second) != ids.end();
          if (given || !held.asked) keys.push_back(key);
        }
        GiveBack(keys, ReleaseReason::kShutdown);
      }));
}

void Holdings::StopDelivering() {
  delivers_ = false;
  for (auto& [key, held] : held_) {
    if (!held.delivering) continue;
    held.delivering = false;  // seen by its delivery, which withdraws it
    Release(key, held.epoch, ReleaseReason::kShutdown);
  }
}

void Holdings::FinishDrain() { GiveBack(NotEnding(), ReleaseReason::kShutdown); }

int Holdings::waiting() const {
  return static_cast<int>(std::count_if(held_.begin(), held_.end(), [](const auto& entry) {
    const Held& held = entry.second;
    return !held.ending && (held.job == nullptr || held.job->state() == VideoState::kQueued);
  }));
}

}  // namespace reel::front
