// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/wishes.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/node_table.h"
#include "server/front/node/fleet_errors.h"

namespace reel::front {
namespace {

constexpr absl::Duration kWishPatience = absl::Seconds(10);
constexpr size_t kMostAtOnce = 1000;

absl::Status EndOf(const std::string& id, Reason reason, std::string_view text) {
  return MakeError(reason, text, {.metadata = {{"video", absl::StrCat("videos/", id)}}});
}

std::string_view TextOf(LeaveReason reason) {
  return reason == LeaveReason::kSlowReader
             ? "The last stream of the video was closed: its client read nothing for too long"
             : "The last client of the video has disconnected";
}

}  // namespace

bool Wishes::MayWish(const Key& key) const {
  const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
  return video && video->live() && !video->job.wish;
}

void Wishes::Put(const LogSubject& subject, std::string message, std::function<bool()> noted,
                 Done done) {
  ports_.Write(
      subject, std::move(message), kWishPatience,
      [this, noted = std::move(noted), done = std::move(done)](const auto& written) mutable {
        if (!written.ok() || written->outcome == WriteResult::Outcome::kUnknown) {
          return done(NotWritten(written.status()));
        }
        state_.waiters.Add(std::move(noted), ports_.clock.Monotonic() + kWishPatience,
                           [done = std::move(done)](bool there) mutable {
                             done(there ? absl::OkStatus() : NotWritten(absl::OkStatus()));
                           });
      });
}

void Wishes::Write(const Key& key, CancelKind kind, absl::Status error, Done done) {
  const std::shared_ptr<FleetVideo> face = state_.faces.Find(key);
  if (face == nullptr) return done(NoSuchVideo(key.second));
  Video ended = face->Snapshot();
  ended.state = kind == CancelKind::kExpired ? VideoState::kFailed : VideoState::kCancelled;
  ended.error = std::move(error);
  ended.end_time = ports_.clock.Wall();
  ended.expire_time = ended.end_time + kKeepFailed;
  // Quotas count what is in the index.
  const auto noted = [this, key] {
    const KnownVideo* const live = state_.index.FindLive(key);
    return live != nullptr ? live->wished : !MayWish(key);
  };
  Put({key.first, key.second, LogKind::kCancel, 0},
      WriteWish({kind, state_.faces.Write(key, ended)}), noted, std::move(done));
}

void Wishes::Cancel(const Key& key, Answer<Video> done) {
  const std::shared_ptr<FleetVideo> face = state_.faces.Find(key);
  if (face == nullptr) return done(NoSuchVideo(key.second));
  Video before = face->Snapshot();
  if (!MayWish(key)) return done(std::move(before));
  Write(key, CancelKind::kCancelled,
        EndOf(key.second, Reason::kCancelledByOwner, "The video was cancelled"),
        [before = std::move(before), done = std::move(done)](const absl::Status& noted) mutable {
          if (!noted.ok()) return done(noted);
          done(std::move(before));
        });
}

void Wishes::Delete(const Key& key, Done done) {
  const auto deleted = [this, key] {
    const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
    return !video || video->job.deleted;
  };
  Put({key.first, key.second, LogKind::kDelete, 0}, WriteDeletion(), deleted, std::move(done));
}

void Wishes::Join(const std::string& id, bool bound, bool is_new) {
  if (!bound) {
    bound_.erase(id);
  } else if (is_new || bound_.contains(id)) {
    ++bound_[id];
  }
}

void Wishes::Leave(const std::string& id, LeaveReason reason) {
  const auto found = bound_.find(id);
  if (found == bound_.end() || --found->second > 0) return;
  bound_.erase(found);
  const std::optional<Key> key = ports_.view.FindId(id);
  if (!key || !MayWish(*key)) return;
  const bool late = reason == LeaveReason::kDeadline;
  Write(*key, late ? CancelKind::kExpired : CancelKind::kCancelled,
        late ? EndOf(id, Reason::kDeadlinePassed, "The deadline passed before the video was done")
             : EndOf(id, Reason::kOwnerLeft, TextOf(reason)),
        [](const absl::Status&) {});
}

void Wishes::Tick() {
  const absl::Time now = ports_.clock.Wall();
  std::vector<std::string> nodes;  // filled once something is due
  std::vector<Key> due;
  for (const auto& [deadline, key] : state_.index.deadlines()) {
    if (deadline > now || due.size() == kMostAtOnce) break;
    const KnownVideo& video = *state_.index.FindLive(key);
    const bool held = video.phase == FleetPhase::kClaimed;
    if (video.wished || expiring_.contains(key)) continue;
    // A live owner ends its own videos.
    if (held && !state_.beats.nodes().IsSilent(video.owner)) continue;
    if (nodes.empty()) {
      for (const auto& [name, beat] : state_.beats.nodes().Alive()) nodes.push_back(name);
    }
    // One node ends each video; after `silence` any node does.
    const bool ours = SuitsBest(key.second, state_.options.node, nodes);
    if (ours || deadline + state_.options.silence < now) due.push_back(key);
  }
  for (const Key& key : due) {
    expiring_.insert(key);
    Write(
        key, CancelKind::kExpired,
        EndOf(key.second, Reason::kDeadlinePassed, "The deadline passed before the video was done"),
        [this, key](const absl::Status&) { expiring_.erase(key); });
  }
}

}  // namespace reel::front
