// SPDX-License-Identifier: Apache-2.0
// The view's database, with one connection for changes and one for reads, so that no reader waits
// for the disk. Applies batches of folded messages in one transaction, together with their
// position.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/view_video.h"
#include "server/front/store/sqlite.h"

namespace reel::front {

// Interface for looking up records by name.
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
  // Continues after the message at `position`. `records` must not change meanwhile. Without a
  // reader the videos' records are not decoded.
  ViewBatch(ViewRecords& records, uint64_t position, const VideoReader* reader = nullptr)
      : records_(records), reader_(reader), position_(position) {}

  // Called in the log's order. Sequences at or below the position change nothing.
  FoldVerdict Fold(const FoldEntry& entry);

  struct Change {
    FleetJob job;
    bool is_new = false;   // it was requested in this batch
    bool ended = false;    // in this batch
    bool deleted = false;  // likewise
    VideoFacts facts;      // of one that is new or has ended; set by Finish
  };
  // Decodes the records of new and ended videos. Called after the last Fold.
  void Finish();

  const std::map<Key, Change>& changes() const { return changes_; }
  // Ended videos, in the order of their ends.
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

// Thread-safe.
class ViewStore {
 public:
  // Recreates a file that cannot be read or is of another build: the log has its content.
  static absl::StatusOr<std::unique_ptr<ViewStore>> Open(const std::string& path);
  static void Remove(const std::string& path);
  // Opens a file that is the only copy, with commits that survive a power loss. A damaged file's
  // readable records are copied into a new file, and the damaged one is kept beside it. A file of
  // another build, or one without any readable record, is refused and left as it is.
  static absl::StatusOr<std::unique_ptr<ViewStore>> OpenOnlyCopy(const std::string& path);
  // A store in memory, in which readers wait for changes.
  static std::unique_ptr<ViewStore> InMemory();

  // Runs `change` in one transaction.
  absl::Status Change(absl::FunctionRef<absl::Status(Database&)> change);
  // Queries the committed state. A failure is logged, returns an empty answer, and marks the store
  // as broken.
  template <typename T>
  T Read(absl::FunctionRef<absl::StatusOr<T>(Database&)> query) {
    const MutexLock lock(reader_->mutex);
    absl::StatusOr<T> found = query(*reader_->database);
    if (found.ok()) return *std::move(found);
    LogFailure(found.status());
    broken_ = true;
    return T{};
  }
  // Whether a read has failed, so that answers are unreliable.
  bool broken() const { return broken_; }

 private:
  struct Connection {
    explicit Connection(std::unique_ptr<Database> opened) : database(std::move(opened)) {}
    Mutex mutex;
    const std::unique_ptr<Database> database ABSL_PT_GUARDED_BY(mutex);
  };
  ViewStore(std::shared_ptr<Connection> writer, std::shared_ptr<Connection> reader)
      : writer_(std::move(writer)), reader_(std::move(reader)) {}
  static absl::StatusOr<std::unique_ptr<ViewStore>> TryOpen(const std::string& path);
  // DATA_LOSS: a part cannot be read.
  static absl::StatusOr<std::unique_ptr<ViewStore>> OpenWhole(const std::string& path);
  static void LogFailure(const absl::Status& status);

  std::atomic<bool> broken_ = false;
  const std::shared_ptr<Connection> writer_;
  const std::shared_ptr<Connection> reader_;  // the same one for a store in memory
};

// Records as a transaction sees them. A failure returns an empty answer and sets `status`.
class StoredRecords final : public ViewRecords {
 public:
  explicit StoredRecords(Database& database) : database_(database) {}

  std::optional<FleetJob> FindJob(const Key& key) override;
  std::optional<FleetTrace> FindTrace(const Key& key) override;
  std::optional<FleetBinding> FindBinding(const Key& key) override;
  const absl::Status& status() const { return status_; }

 private:
  Database& database_;
  absl::Status status_;
};

namespace view_tables {

// How to salvage a damaged file with a log and its view. A video whose record is lost also loses
// its messages and its request id, so that the id can be used again.
SalvagePlan PlanOfLog();

}  // namespace view_tables

}  // namespace reel::front
