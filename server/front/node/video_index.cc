// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/video_index.h"

namespace reel::front {
namespace {

// Limit of videos per tenant that are examined for ones that this node can run.
constexpr int kMostLooks = 4096;

int RankOf(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return 1;
    case Priority::kNormal:
      return 0;
    case Priority::kHigh:
      return -1;
  }
  return 0;
}

double WeightOf(const std::string& tenant, const std::map<std::string, double>& weights) {
  const auto found = weights.find(tenant);
  return found == weights.end() ? 1 : found->second;
}

}  // namespace

VideoState StateOf(FleetPhase phase) {
  switch (phase) {
    case FleetPhase::kQueued:
      return VideoState::kQueued;
    case FleetPhase::kClaimed:
      return VideoState::kRunning;
    case FleetPhase::kSucceeded:
      return VideoState::kSucceeded;
    // A passed deadline is a failure.
    case FleetPhase::kFailed:
    case FleetPhase::kExpired:
      return VideoState::kFailed;
    case FleetPhase::kCancelled:
      return VideoState::kCancelled;
  }
  return VideoState::kFailed;
}

void VideoIndex::Clear() {
  videos_.clear();
  tenants_.clear();
  claimed_.clear();
  deadlines_.clear();
  queued_ = 0;
  locked_ = 0;
  backlog_.Clear();
}

const KnownVideo* VideoIndex::FindLive(const Key& key) const {
  const auto found = videos_.find(key);
  return found == videos_.end() ? nullptr : &found->second;
}

double VideoIndex::Load(const std::string& tenant, int more,
                        const std::map<std::string, double>& weights) const {
  const auto found = tenants_.find(tenant);
  const int claimed = found == tenants_.end() ? 0 : found->second.claimed;
  return (claimed + more) / WeightOf(tenant, weights);
}

int VideoIndex::Live(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return 0;
  return found->second.claimed + static_cast<int>(found->second.queue.size());
}

double VideoIndex::LiveSeconds(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return 0;
  double seconds = 0;
  for (const auto& [model, work] : found->second.work) {
    seconds += backlog_.models().at(model).SecondsOf(work);
  }
  return seconds;
}

void VideoIndex::Update(const Key& key, const FleetJob& job) {
  const auto before = videos_.find(key);
  if (before != videos_.end()) Take(key, before->second);
  if (HasEnded(job.phase)) {
    if (before != videos_.end()) videos_.erase(before);
    return;
  }
  const auto [found, is_new] = videos_.try_emplace(key);
  KnownVideo& video = found->second;
  video.phase = job.phase;
  video.epoch = job.epoch;
  video.begun = job.begun;
  video.owner = job.owner;
  video.address = job.address;
  video.requested = job.requested;
  video.place = job.place;
  video.caller_node = job.caller_node;
  video.wished = job.wish.has_value();
  video.expires = job.wish == CancelKind::kExpired;
  // A video's record changes only when it ends.
  if (is_new) Read(key, job, video);
  Put(key, video);
}

void VideoIndex::Read(const Key& key, const FleetJob& job, KnownVideo& video) {
  const absl::StatusOr<Video> read = logged_.Read(key, job.video);
  video.readable = read.ok();
  video.locked = absl::IsFailedPrecondition(read.status());
  if (!read.ok()) return;
  video.model = read->spec.model;
  video.worker = read->spec.worker;
  video.work = PixelStepsOf(read->spec);
  video.kernels = read->spec.kernels;
  video.adapters = read->spec.adapters;
  for (const auto& condition : read->spec.conditions) video.conditions.push_back(condition.sha256);
  video.priority = read->priority;
  video.create_time = read->create_time;
  video.deadline = read->deadline;
}

// A claim on such a video is valid; its owner releases it.
void VideoIndex::CountLocked(const Key& key, const KnownVideo& video, int by) {
  if (!video.locked) return;
  locked_ += by;
  if (by < 0) {
    claimed_.erase(key);
  } else if (video.phase == FleetPhase::kClaimed) {
    claimed_.insert(key);
  }
}

VideoIndex::Place VideoIndex::PlaceOf(const Key& key, const KnownVideo& video) {
  return {RankOf(video.priority), video.requested, video.place, key};
}

void VideoIndex::Take(const Key& key, const KnownVideo& video) {
  if (!video.readable) return CountLocked(key, video, -1);
  deadlines_.erase({video.deadline, key});
  backlog_.Remove(video.model, video.phase == FleetPhase::kClaimed, video.work);
  Tenant& tenant = tenants_[key.first];
  tenant.work[video.model] -= video.work;
  if (video.phase == FleetPhase::kClaimed) {
    --tenant.claimed;
    claimed_.erase(key);
  } else {
    tenant.queue.erase(PlaceOf(key, video));
    --queued_;
  }
  if (tenant.queue.empty() && tenant.claimed == 0) tenants_.erase(key.first);
}

void VideoIndex::Put(const Key& key, const KnownVideo& video) {
  if (!video.readable) return CountLocked(key, video, 1);
  deadlines_.insert({video.deadline, key});
  backlog_.Add(video.model, video.phase == FleetPhase::kClaimed, video.work);
  Tenant& tenant = tenants_[key.first];
  tenant.work[video.model] += video.work;
  if (video.phase == FleetPhase::kClaimed) {
    ++tenant.claimed;
    claimed_.insert(key);
  } else {
    tenant.queue.insert(PlaceOf(key, video));
    ++queued_;
  }
}

std::vector<VideoIndex::Key> VideoIndex::Head(size_t window,
                                              const std::map<std::string, double>& weights,
                                              const Accept& accept) const {
  struct Turn {
    const Tenant* tenant;
    double weight;
    std::set<Place>::const_iterator next;
    int taken, looked = 0;
  };
  std::vector<Turn> turns;
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.queue.empty()) continue;
    turns.push_back({&tenant, WeightOf(name, weights), tenant.queue.begin(), tenant.claimed});
  }
  std::vector<Key> head;
  while (head.size() < window && !turns.empty()) {
    auto first = turns.begin();
    for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
      const double own = (turn->taken + 1) / turn->weight;
      const double best = (first->taken + 1) / first->weight;
      // Between equals the one that has waited longest.
      if (own < best || (own == best && std::get<1>(*turn->next) < std::get<1>(*first->next))) {
        first = turn;
      }
    }
    const Key& key = std::get<Key>(*first->next);
    if (accept(videos_.at(key))) {
      head.push_back(key);
      ++first->taken;
    }
    if (++first->next == first->tenant->queue.end() || ++first->looked == kMostLooks) {
      turns.erase(first);
    }
  }
  return head;
}

}  // namespace reel::front
