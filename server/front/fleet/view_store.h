// SPDX-License-Identifier: Apache-2.0
// The view's database: one connection that changes it and one that reads, so that no reader waits
// for a disk. It applies batches: messages folded onto its records, and what they change together,
// in one transaction with their position.
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

// Thread-safe.
class ViewStore {
 public:
  // A file that cannot be read, or is of another build, is made anew: the log has what it had.
  static absl::StatusOr<std::unique_ptr<ViewStore>> Open(const std::string& path);
  static void Remove(const std::string& path);
  // A file that holds what is nowhere else: a commit survives the machine. Every readable record of
  // a damaged file goes into a new one, and the damaged file is kept beside it. A file of which
  // nothing can be read, or of another build, is refused and left as it is.
  static absl::StatusOr<std::unique_ptr<ViewStore>> OpenOnlyCopy(const std::string& path);
  // One that ends with the process; readers wait for changes.
  static std::unique_ptr<ViewStore> InMemory();

  // One transaction: all of it is kept, or nothing.
  absl::Status Change(absl::FunctionRef<absl::Status(Database&)> change);
  // Of what was committed before. A failure is logged, its answer is empty, and the store is
  // broken.
  template <typename T>
  T Read(absl::FunctionRef<absl::StatusOr<T>(Database&)> query) {
    const MutexLock lock(reader_->mutex);
    absl::StatusOr<T> found = query(*reader_->database);
    if (found.ok()) return *std::move(found);
    LogFailure(found.status());
    broken_ = true;
    return T{};
  }
  // Something could not be read: what it says is not to be relied on.
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
  // DATA_LOSS: some of it cannot be read.
  static absl::StatusOr<std::unique_ptr<ViewStore>> OpenWhole(const std::string& path);
  static void LogFailure(const absl::Status& status);

  std::atomic<bool> broken_ = false;
  const std::shared_ptr<Connection> writer_;
  const std::shared_ptr<Connection> reader_;  // in memory the same
};

// Records as a transaction sees them. A failure is an empty answer, and told by `status`.
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

// Salvage of a damaged file that has a log and its view. Of a video whose record is lost its
// messages and its request id go as well, so that both are free again.
SalvagePlan PlanOfLog();

}  // namespace view_tables

}  // namespace reel::front
