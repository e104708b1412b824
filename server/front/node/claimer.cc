// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/claimer.h"

#include <algorithm>
#include <optional>

#include "server/front/fleet/log_messages.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// The best suited node claims at once. Each other one waits this long per better suited node.
constexpr absl::Duration kTurn = absl::Milliseconds(50);
constexpr absl::Duration kClaimPatience = absl::Seconds(10);

}  // namespace

void Claimer::Settle(absl::Duration now) {
  if (state_.options.alone) return ClaimAll();
  Forget();
  counted_.clear();
  if (!fitness_.fit()) {
    idle_ = 0;
    had_room_ = false;
    return;
  }
  const Means means = MeansOf(ports_.jobs);
  const std::vector<Key> waiting = holdings_.Waiting();
  const int taken = static_cast<int>(waiting.size() + claiming_.size());
  const bool may = !deliveries_.full();
  // Holds one waiting video per device beside the running one.
  int room = may ? means.devices - taken : 0;
  idle_ = may ? std::max(0, means.idle - taken) : 0;
  if (room > 0 && !had_room_) room_since_ = now;
  had_room_ = room > 0;
  for (const Key& key : Orphans(means)) {
    const KnownVideo& video = *state_.index.FindLive(key);
    // A video that is only to be ended needs no device.
    const bool only_ends = video.wished;
    if (claiming_.contains(key) || (!only_ends && room <= 0) || !IsOurs(key, video, now)) continue;
    Claim(key);
    room -= only_ends ? 0 : 1;
  }
  // Each waiting video may be overtaken by one of another tenant.
  const int passing = may && !waiting.empty() ? means.devices : 0;
  if (room + passing <= 0) return;
  const size_t window = room > 0 ? WindowOf(static_cast<size_t>(state_.beats.NumServing()))
                                 : static_cast<size_t>(passing);
  for (const Key& key : Candidates(means, window)) {
    if (room + passing <= 0 || (room <= 0 && !Passes(key, waiting))) break;
    if (claiming_.contains(key) || !IsOurs(key, *state_.index.FindLive(key), now)) continue;
    Claim(key);
    --room;
  }
}

// Claims what an earlier process left; requests claim their own videos.
void Claimer::ClaimAll() {
  if (state_.index.queued() == 0) return;
  Forget();
  const auto any = [](const KnownVideo&) { return true; };
  for (const Key& key :
       state_.index.Head(static_cast<size_t>(state_.index.queued()), state_.options.weights, any)) {
    if (!claiming_.contains(key)) Claim(key);
  }
}

bool Claimer::Passes(const Key& key, const std::vector<Key>& waiting) const {
  const auto& weights = state_.options.weights;
  const double with_it = state_.index.Load(key.first, 1, weights);
  return std::any_of(waiting.begin(), waiting.end(), [&](const Key& other) {
    return other.first != key.first && with_it < state_.index.Load(other.first, 0, weights);
  });
}

std::vector<Claimer::Key> Claimer::Orphans(const Means& means) const {
  std::vector<Key> orphans;
  for (const Key& key : state_.index.claimed()) {
    const KnownVideo& video = *state_.index.FindLive(key);
    if (!video.readable || video.owner == state_.options.node) continue;
    if (!state_.beats.nodes().IsSilent(video.owner)) continue;
    if (video.wished || means.CanRun(video)) orphans.push_back(key);
  }
  return orphans;
}

std::vector<Claimer::Key> Claimer::Candidates(const Means& means, size_t window) {
  std::vector<Key> head = state_.index.Head(
      window, state_.options.weights,
      [&](const KnownVideo& video) { return means.CanRun(video) && !IsLeftToItsCaller(video); });
  if (means.idle > 0) return head;
  // All devices here are busy: leave to idle nodes what they will take.
  std::vector<Key> rest;
  std::map<std::string, int> taken;
  for (const Key& key : head) {
    const KnownVideo& video = *state_.index.FindLive(key);
    const std::string& model = video.model;
    if (video.caller_node == state_.options.node) {
      rest.push_back(key);
      continue;
    }
    if (taken[model]++ >= RivalsFor(model).room()) rest.push_back(key);
  }
  return rest;
}

bool Claimer::IsLeftToItsCaller(const KnownVideo& video) const {
  return !video.caller_node.empty() && video.caller_node != state_.options.node &&
         state_.beats.IsServing(video.caller_node);
}

bool Claimer::IsOurs(const Key& key, const KnownVideo& video, absl::Duration now) {
  if (video.caller_node == state_.options.node) return true;
  // An idle node competes with idle nodes only, a busy one with all. Heartbeats do not say who can
  // hold one more, so busy nodes would race for each slot that becomes free.
  Noticed& noticed = noticed_.try_emplace(key, Noticed{now, {}}).first->second;
  const int better =
      RivalsFor(video.model).CountBetter(key.second, /*only_with_room=*/idle_ > 0, noticed.better);
  return now - std::max(noticed.at, room_since_) >= better * kTurn;
}

const Rivals& Claimer::RivalsFor(const std::string& model) {
  Rivals& rivals = rivals_.try_emplace(model, state_.options.node).first->second;
  if (counted_.insert(model).second) rivals.Update(state_.beats.ServersOf(model));
  return rivals;
}

void Claimer::Claim(const Key& key) {
  const KnownVideo& video = *state_.index.FindLive(key);
  const uint32_t epoch = video.epoch + 1;
  claiming_[key] = {epoch, video.phase == FleetPhase::kClaimed};
  holdings_.Expect(key, epoch);
  ports_.Write({key.first, key.second, LogKind::kClaim, epoch},
               WriteClaim({state_.options.node, state_.options.address}), kClaimPatience,
               [this, key](const auto& written) { OnWritten(key, written); });
}

// The view shows whether the claim was won or lost (see Forget).
void Claimer::OnWritten(const Key& key, const absl::StatusOr<WriteResult>& written) {
  const bool told = written.ok() && written->outcome != WriteResult::Outcome::kUnknown;
  if (told) return;
  claiming_.erase(key);
  if (written.ok()) return;
  Log(LogLevel::kWarning, "A claim could not be written into the fleet's log",
      {{"video", key.second}, {"error", written.status()}});
}

void Claimer::Forget() {
  std::erase_if(claiming_, [&](const auto& claim) {
    const KnownVideo* const video = state_.index.FindLive(claim.first);
    if (video != nullptr) {
      const bool is_told = video->epoch >= claim.second.epoch;
      if (is_told) Count(video->owner, video->epoch, claim.second);
      return is_told;
    }
    const std::optional<ViewVideo> ended = ports_.view.FindVideo(claim.first);
    if (ended) Count(ended->job.owner, ended->job.epoch, claim.second);
    return true;
  });
  std::erase_if(noticed_, [&](const auto& entry) {
    const KnownVideo* const video = state_.index.FindLive(entry.first);
    if (video == nullptr) return true;
    return video->phase == FleetPhase::kClaimed && !state_.beats.nodes().IsSilent(video->owner);
  });
}

void Claimer::Count(const std::string& owner, uint32_t epoch, const Claiming& claim) {
  if (epoch != claim.epoch || owner != state_.options.node) {
    ++counts_.lost;
    return;
  }
  ++counts_.won;
  counts_.takeovers += claim.takes_over ? 1 : 0;
}

}  // namespace reel::front
