// SPDX-License-Identifier: Apache-2.0
// The log of a lone server: a table in the view's own SQLite file. One thread judges the waiting
// writes, folds them into the view and stores them, in one transaction.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

struct EmbeddedLogOptions {
  // How long the log remembers written subjects, and request ids of videos that are gone.
  absl::Duration max_age = absl::Hours(24 * 7);
  absl::Duration between_looks = absl::Seconds(2);  // for messages that are too old
};

// A write is won or lost, never unknown. An error means that it is not stored. RESOURCE_EXHAUSTED:
// the disk is full. UNAVAILABLE: the disk does not work at the moment.
class EmbeddedLog final : public LogPort {
 public:
  // `view` must hold its log and outlives it; it is ready when this returns. Fails if the file
  // cannot be used.
  static absl::StatusOr<std::unique_ptr<EmbeddedLog>> Open(FleetView& view,
                                                           EmbeddedLogOptions options = {});
  // Answers everything that was posted.
  ~EmbeddedLog() override;

  bool IsUp() const override { return true; }
  bool PostsAtOnce() const override { return true; }
  LogHealth Health() const override;
  // Waits for the disk, however long that takes.
  absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) override;
  void Post(LogWrite write, absl::Duration patience, Written done) override;
  absl::StatusOr<uint64_t> Newest() override { return view_.position(); }
  // Heartbeats reach this server only.
  void SendBeat(const std::string& node, const std::string& beat) override;
  std::vector<std::string> TakeBeats() override;

 private:
  struct Item {
    LogWrite write;
    Written done;
  };
  EmbeddedLog(FleetView& view, const EmbeddedLogOptions& options);
  void Run();
  bool TakeItems(std::vector<Item>& items);
  void Commit(absl::Span<Item> items);
  absl::Status Store(absl::Span<Item> items, std::vector<WriteResult>& results);
  // Deletes messages that are too old.
  absl::Status Look();

  FleetView& view_;
  const EmbeddedLogOptions options_;
  const int64_t created_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> beats_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
