// SPDX-License-Identifier: Apache-2.0
// Messages folded onto a view's records, and what they change together. A store applies a batch in
// one transaction, with its position.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/view_video.h"

namespace reel::front {

// Records by name, wherever they are kept.
class ViewRecords {
 public:
  using Key = FleetState::Key;
  virtual ~ViewRecords() = default;
  virtual std::optional<FleetJob> FindJob(const Key& key) = 0;
  virtual std::optional<FleetTrace> FindTrace(const Key& key) = 0;
  virtual std::optional<FleetBinding> FindBinding(const Key& key) = 0;
};

class ViewBatch {
 public:
  using Key = FleetState::Key;
  // After the message at `position`. `records` stay as they are while the batch is made. Without a
  // reader nothing is known of a video's bytes.
  ViewBatch(ViewRecords& records, uint64_t position, const VideoReader* reader = nullptr)
      : records_(records), reader_(reader), position_(position) {}

  // In the log's order. Sequences at or below the position change nothing.
  FoldVerdict Fold(const FoldEntry& entry);

  struct Change {
    FleetJob job;
    bool is_new = false;   // it was requested in this batch
    bool ended = false;    // in this batch
    bool deleted = false;  // likewise
    VideoFacts facts;      // of one that is new or has ended; set by Finish
  };
  // Reads the bytes of videos that are new or have ended. After the last Fold.
  void Finish();

  const std::map<Key, Change>& changes() const { return changes_; }
  // Those that have ended, in the order of their ends.
  const std::vector<Key>& ends() const { return ends_; }
  const std::map<Key, FleetBinding>& bindings() const { return bindings_; }
  uint64_t position() const { return position_; }

 private:
  FoldRecords RecordsOf(const FoldEntry& entry);
  std::optional<FleetJob> FindJob(const Key& key);
  void Note(const Key& key, FleetJob job, bool was_live);
  void ReadFacts(const Key& key, Change& change);

  ViewRecords& records_;
  const VideoReader* const reader_;
  uint64_t position_;
  std::map<Key, Change> changes_;
  std::map<Key, FleetBinding> bindings_;
  std::vector<Key> ends_;
};

}  // namespace reel::front
