// SPDX-License-Identifier: Apache-2.0
// What one node knows of the fleet: the log, folded. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/log_reader.h"

namespace reel::front {

// Told what has changed, on the tail's thread with no lock held.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // A message was folded; it may have changed this video or this request id.
  virtual void OnFolded(const FleetState::Key& key) = 0;
  // Nothing that was known is known any more.
  virtual void OnAnew() = 0;
  // Everything that was stored a moment ago is known.
  virtual void OnCaughtUp() = 0;
};

class FleetView final : public LogReader {
 public:
  // From a view that was kept, or from nothing. `listener` may be missing; it outlives the tail.
  explicit FleetView(FleetState state = {}, ViewListener* listener = nullptr)
      : listener_(listener), state_(std::move(state)) {}

  void OnMessage(const StoredMessage& message) override;
  void OnRebuild() override;
  void OnCaughtUp(const StreamFacts& facts) override;

  // Reads one's own writes: whether what was stored at `sequence` has been folded, within
  // `patience`.
  bool WaitFor(uint64_t sequence, absl::Duration patience);
  // Whether the view has been up to date since it was begun or begun anew.
  bool WaitUntilReady(absl::Duration patience);
  bool ready();

  // Nobody can ask for them any more: of each that has ended only a trace stays.
  void Forget(const std::vector<FleetState::Key>& keys);
  std::optional<FleetTrace> FindTrace(const std::string& tenant, const std::string& id);

  std::optional<FleetJob> Find(const std::string& tenant, const std::string& id);
  std::optional<FleetBinding> FindBinding(const std::string& tenant, const std::string& request_id);
  uint64_t position();
  // Up to which message the listener has heard of everything.
  uint64_t told();
  // A copy of all of it.
  FleetState state();
  // Messages that were void, by why.
  std::map<FoldVerdict, int64_t> voids();

 private:
  ViewListener* const listener_;
  Mutex mutex_;
  CondVar changed_;
  FleetState state_ ABSL_GUARDED_BY(mutex_);
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t told_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t first_ ABSL_GUARDED_BY(mutex_) = 1;  // of the log, as last heard
  std::map<FoldVerdict, int64_t> voids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
