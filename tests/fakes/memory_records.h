// SPDX-License-Identifier: Apache-2.0
// A view's records in maps, and the fold over them a message at a time.
#pragma once

#include <optional>

#include "server/front/fleet/view_store.h"

namespace reel::testing {

class MemoryRecords final : public front::ViewRecords {
 public:
  explicit MemoryRecords(front::FleetState& state) : state_(state) {}

  std::optional<front::FleetJob> FindJob(const Key& key) override { return Find(state_.jobs, key); }
  std::optional<front::FleetTrace> FindTrace(const Key& key) override {
    return Find(state_.over, key);
  }
  std::optional<front::FleetBinding> FindBinding(const Key& key) override {
    return Find(state_.bindings, key);
  }
  void Apply(const front::ViewBatch& batch) {
    for (const auto& [key, change] : batch.changes()) state_.jobs[key] = change.job;
    for (const auto& [key, binding] : batch.bindings()) state_.bindings[key] = binding;
    state_.position = batch.position();
  }

 private:
  template <typename T>
  static std::optional<T> Find(const std::map<Key, T>& records, const Key& key) {
    const auto found = records.find(key);
    if (found == records.end()) return std::nullopt;
    return found->second;
  }

  front::FleetState& state_;
};

inline front::FoldVerdict Fold(front::FleetState& state, const front::FoldEntry& entry) {
  MemoryRecords records(state);
  front::ViewBatch batch(records, state.position);
  const front::FoldVerdict verdict = batch.Fold(entry);
  records.Apply(batch);
  return verdict;
}

// Ends a video and removes all but its trace.
inline void Forget(front::FleetState& state, const front::FleetState::Key& key) {
  const front::FleetJob& job = state.jobs.at(key);
  state.over[key] = {job.phase, job.requested};
  state.jobs.erase(key);
}

}  // namespace reel::testing
