// SPDX-License-Identifier: Apache-2.0
// The view's database: one connection that changes it and one that reads, so that no reader waits
// for a disk.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/view_batch.h"
#include "server/front/store/sqlite.h"

namespace reel::front {

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
