// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/janitor.h"

#include <algorithm>

#include "server/logging/log.h"

namespace reel::front {
namespace {

// The end of an upload in progress may not be written yet.
constexpr absl::Duration kOrphan = absl::Hours(24);
// Longer than the log's memory: results survive a log that was recreated by mistake.
constexpr absl::Duration kStranger = absl::Hours(8 * 24);

}  // namespace

bool Janitor::IsMine() const { return objects_ != nullptr && state_.beats.IsFirst(); }

void Janitor::Tick(absl::Duration now) {
  if (!IsMine() || sweeping_ || now - swept_ < state_.options.sweep || !store_state_.good()) return;
  swept_ = now;
  sweeping_ = true;
  auto sweep = std::make_shared<Sweep>();
  sweep->prefix = MediaPrefix(state_.options.fleet);
  // Lists files first: conditions of files that can still be named stay.
  files_.Look([this, sweep](const absl::Status& looked) {
    if (looked.ok()) return Remove(sweep, files_.use().expired, true);
    sweeping_ = false;
  });
}

void Janitor::OnDeleted(const Key& key, const std::string& object) {
  if (!IsMine()) return;
  if (!object.empty()) Delete(object);
  const std::optional<ViewVideo> video = ports_.view.FindVideo(key);
  if (!video || video->facts.state_bytes == 0) return;
  Delete(StateKey(state_.options.fleet, key.first, key.second, video->job.begun));
}

// If this fails, the next sweep deletes the object.
void Janitor::Delete(const std::string& object) {
  pool_->Put([store = objects_, object] { store->Delete(object).IgnoreError(); });
}

void Janitor::NextPage(std::shared_ptr<Sweep> sweep) {
  auto listed = ports_.thread.Here<absl::StatusOr<ObjectPage>>(
      [this, sweep](const absl::StatusOr<ObjectPage>& page) { OnPage(sweep, page); });
  const bool taken =
      pool_->Put([store = objects_, prefix = sweep->prefix, after = sweep->after,
                  listed = std::move(listed)]() mutable { listed(store->List(prefix, after)); });
  if (!taken) sweeping_ = false;
}

void Janitor::OnPage(const std::shared_ptr<Sweep>& sweep, const absl::StatusOr<ObjectPage>& page) {
  store_state_.Note(page.status());
  if (!page.ok()) {
    sweeping_ = false;
    return;
  }
  const std::set<std::string> named = Named();
  std::vector<std::string> unwanted;
  for (const ObjectEntry& object : page->objects) {
    const Found found = Find(object);
    const bool wanted =
        IsWanted(found, named) || ports_.clock.Wall() - object.changed < PatienceWith(found);
    if (!wanted) unwanted.push_back(object.key);
    sweep->kept += wanted ? 1 : 0;
    sweep->after = object.key;
  }
  Remove(sweep, std::move(unwanted), page->more && !page->objects.empty());
}

void Janitor::Remove(std::shared_ptr<Sweep> sweep, std::vector<std::string> keys, bool more) {
  if (keys.empty()) return GoOn(sweep, more);
  auto removed = ports_.thread.Here<int>([this, sweep, more](int count) {
    sweep->removed += count;
    GoOn(sweep, more);
  });
  const bool taken = pool_->Put(
      [store = objects_, keys = std::move(keys), removed = std::move(removed)]() mutable {
        removed(static_cast<int>(std::count_if(
            keys.begin(), keys.end(), [&](const auto& key) { return store->Delete(key).ok(); })));
      });
  if (!taken) sweeping_ = false;
}

void Janitor::GoOn(const std::shared_ptr<Sweep>& sweep, bool more) {
  if (more) return NextPage(sweep);
  const std::string conditions = ConditionPrefix(state_.options.fleet);
  if (sweep->prefix != conditions) {
    sweep->prefix = conditions;
    sweep->after.clear();
    return NextPage(sweep);
  }
  sweeping_ = false;
  if (sweep->removed == 0) return;
  Log(LogLevel::kInfo, "swept the fleet's object store",
      {{"removed", sweep->removed}, {"kept", sweep->kept}});
}

// Keys of conditions of queued and running videos, and of files that requests can still name.
std::set<std::string> Janitor::Named() const {
  std::set<std::string> named = files_.use().conditions;
  for (const auto& [deadline, key] : state_.index.deadlines()) {
    for (const std::string& sha256 : state_.index.FindLive(key)->conditions) {
      for (std::string& name :
           ConditionKeys(state_.options.seal, state_.options.fleet, key.first, sha256)) {
        named.insert(std::move(name));
      }
    }
  }
  return named;
}

Janitor::Found Janitor::Find(const ObjectEntry& object) const {
  Found found{object, ReadMediaKey(state_.options.fleet, object.key), std::nullopt};
  if (found.place) found.video = ports_.view.FindVideo({found.place->tenant, found.place->id});
  return found;
}

bool Janitor::IsWanted(const Found& found, const std::set<std::string>& named) const {
  // Keeps all while some video cannot be decoded: its conditions are unknown.
  if (!found.place) return named.contains(found.object.key) || state_.index.locked() > 0;
  if (!found.video || found.video->job.deleted) return false;
  if (!found.video->facts.readable) return true;
  const FleetJob& job = found.video->job;
  if (found.video->live()) return found.place->epoch >= job.begun;
  const VideoFacts& facts = found.video->facts;
  const absl::Time end = found.place->is_state ? facts.state_expire_time : facts.expire_time;
  return job.phase == FleetPhase::kSucceeded && found.place->epoch == job.begun &&
         end > ports_.clock.Wall();
}

absl::Duration Janitor::PatienceWith(const Found& found) const {
  if (!found.place) return kOrphan;
  if (!found.video) return kStranger;
  const FleetJob& job = found.video->job;
  const bool has_no_use =
      job.deleted || (job.phase == FleetPhase::kSucceeded && found.place->epoch == job.begun);
  // Deletes whatever time the store's clock gives it.
  return has_no_use ? -absl::InfiniteDuration() : kOrphan;
}

}  // namespace reel::front
