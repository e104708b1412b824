// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/video_index.h"

namespace reel::front {
namespace {

// Of one tenant so many are looked at for some that this node can run.
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
    // One whose time is over has failed by that.
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
  tenants_of_ids_.clear();
  tenants_.clear();
  claimed_.clear();
  deadlines_.clear();
  expiries_.clear();
  by_age_.clear();
  queued_ = 0;
  locked_ = 0;
  backlog_.Clear();
}

const KnownVideo* VideoIndex::Find(const Key& key) const {
  const auto found = videos_.find(key);
  return found == videos_.end() ? nullptr : &found->second;
}

std::vector<VideoIndex::Key> VideoIndex::ForgetExpired(absl::Time time, size_t most) {
  std::vector<Key> gone;
  while (!expiries_.empty() && expiries_.begin()->first < time && gone.size() < most) {
    const Key key = expiries_.begin()->second;
    const auto found = videos_.find(key);
    Take(key, found->second);
    videos_.erase(found);
    const auto named = tenants_of_ids_.find(key.second);
    if (named->second == key.first) tenants_of_ids_.erase(named);
    gone.push_back(key);
  }
  return gone;
}

std::optional<VideoIndex::Key> VideoIndex::FindId(const std::string& id) const {
  const auto found = tenants_of_ids_.find(id);
  if (found == tenants_of_ids_.end()) return std::nullopt;
  return Key{found->second, id};
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
  const auto [found, is_new] = videos_.try_emplace(key);
  KnownVideo& video = found->second;
  const bool was_live = !is_new && video.live();
  if (!is_new) Take(key, video);
  video.phase = job.phase;
  video.epoch = job.epoch;
  video.begun = job.begun;
  video.owner = job.owner;
  video.address = job.address;
  video.requested = job.requested;
  video.caller_node = job.caller_node;
  video.wished = job.wish.has_value();
  video.expires = job.wish == CancelKind::kExpired;
  video.deleted = job.deleted;
  // Its bytes change when it ends, and at no other time.
  if (is_new || (was_live && !video.live())) Read(key, job, video);
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
  if (read->stats) video.bill = {read->stats->device_seconds, read->end_time};
  if (read->state == VideoState::kSucceeded) {
    backlog_.Learn(video.model, video.work, video.bill.device_seconds);
  }
  video.kernels = read->spec.kernels;
  video.conditions.clear();
  for (const auto& condition : read->spec.conditions) video.conditions.push_back(condition.sha256);
  video.priority = read->priority;
  video.create_time = read->create_time;
  video.deadline = read->deadline;
  if (!video.live()) video.expire_time = read->expire_time;
}

// A claim on it stands all the same: who has it gives it back.
void VideoIndex::CountLocked(const Key& key, const KnownVideo& video, int by) {
  if (!video.locked || !video.live()) return;
  locked_ += by;
  if (by < 0) {
    claimed_.erase(key);
  } else if (video.phase == FleetPhase::kClaimed) {
    claimed_.insert(key);
  }
}

void VideoIndex::Take(const Key& key, const KnownVideo& video) {
  if (!video.readable) return CountLocked(key, video, -1);
  by_age_.erase({video.create_time, key.second, key.first});
  if (!video.live()) {
    expiries_.erase({video.expire_time, key});
    return;
  }
  deadlines_.erase({video.deadline, key});
  backlog_.Remove(video.model, video.phase == FleetPhase::kClaimed, video.work);
  Tenant& tenant = tenants_[key.first];
  tenant.work[video.model] -= video.work;
  if (video.phase == FleetPhase::kClaimed) {
    --tenant.claimed;
    claimed_.erase(key);
  } else {
    tenant.queue.erase({RankOf(video.priority), video.requested, key});
    --queued_;
  }
  if (tenant.queue.empty() && tenant.claimed == 0) tenants_.erase(key.first);
}

void VideoIndex::Put(const Key& key, const KnownVideo& video) {
  // Of two tenants' videos under one id, which no gateway makes, the first counts.
  tenants_of_ids_.try_emplace(key.second, key.first);
  if (!video.readable) return CountLocked(key, video, 1);
  by_age_.insert({video.create_time, key.second, key.first});
  if (!video.live()) {
    expiries_.insert({video.expire_time, key});
    return;
  }
  deadlines_.insert({video.deadline, key});
  backlog_.Add(video.model, video.phase == FleetPhase::kClaimed, video.work);
  Tenant& tenant = tenants_[key.first];
  tenant.work[video.model] += video.work;
  if (video.phase == FleetPhase::kClaimed) {
    ++tenant.claimed;
    claimed_.insert(key);
  } else {
    tenant.queue.insert({RankOf(video.priority), video.requested, key});
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
      // Alike: who has waited longest.
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

void VideoIndex::Walk(absl::Time before_time, const std::string& before_id,
                      const Visit& visit) const {
  // The first page has no video before it.
  auto next = before_id.empty() ? by_age_.end() : by_age_.lower_bound({before_time, before_id, ""});
  while (next != by_age_.begin()) {
    --next;
    const Key key{std::get<2>(*next), std::get<1>(*next)};
    if (!visit(key, videos_.at(key))) return;
  }
}

void VideoIndex::WalkUp(absl::Time after_time, const std::string& after_id,
                        const Visit& visit) const {
  auto next = after_id.empty() ? by_age_.begin() : by_age_.lower_bound({after_time, after_id, ""});
  for (; next != by_age_.end(); ++next) {
    const auto& [time, id, tenant] = *next;
    if (id == after_id && time == after_time) continue;
    const Key key{tenant, id};
    if (!visit(key, videos_.at(key))) return;
  }
}

}  // namespace reel::front
