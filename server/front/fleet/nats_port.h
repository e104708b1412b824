// SPDX-License-Identifier: Apache-2.0
// A node's connection to the brokers: the log, and heartbeats, which are not stored.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_checks.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/log_tail.h"

namespace reel::front {

// Writes messages into the log, each subject once. Thread-safe. Calls block on the broker, so no
// thread that others wait for may make them.
class LogWriter {
 public:
  // `connection` outlives it.
  explicit LogWriter(const LogConnection& connection) : connection_(connection) {}

  // Retries until the write is won or lost, or `patience` is over. An error means that the message
  // is certainly not stored. UNAVAILABLE: the connection is down and nothing was sent.
  // RESOURCE_EXHAUSTED: the log is full. INVALID_ARGUMENT: no broker accepts the message.
  absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) const;

 private:
  // Whose message the subject has; nullopt if the broker does not answer.
  std::optional<WriteResult> AskWhose(const LogWrite& write) const;

  const LogConnection& connection_;
};

// A node's access to the fleet's log: a connection, a writer, and a tail for a reader.
class FleetLog {
 public:
  // `reader` outlives it. Errors as LogConnection::Open.
  static absl::StatusOr<std::unique_ptr<FleetLog>> Open(const FleetLogOptions& options,
                                                        TailStart start, LogReader& reader);

  const LogConnection& connection() const { return *connection_; }
  const LogWriter& writer() const { return writer_; }
  const LogTail& tail() const { return tail_; }

 private:
  FleetLog(std::unique_ptr<LogConnection> connection, TailStart start, LogReader& reader);

  // The order matters: the tail ends first.
  const std::unique_ptr<LogConnection> connection_;
  const LogWriter writer_;
  const LogTail tail_;
};

class NatsPort final : public LogPort {
 public:
  // `reader` outlives it. Errors as FleetLog::Open.
  static absl::StatusOr<std::unique_ptr<NatsPort>> Open(const FleetLogOptions& options,
                                                        LogReader& reader);
  ~NatsPort() override;

  bool IsUp() const override { return log_->connection().IsUp(); }
  LogHealth Health() const override;
  std::vector<LogCheck> Check(bool claims) override { return CheckLog(log_->connection(), claims); }
  absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) override {
    return log_->writer().Write(write, patience);
  }
  absl::StatusOr<uint64_t> Newest() override;
  absl::StatusOr<absl::Time> Time() override { return log_->connection().Time(); }
  void SendBeat(const std::string& node, const std::string& beat) override;
  std::vector<std::string> TakeBeats() override;

 private:
  explicit NatsPort(std::unique_ptr<FleetLog> log) : log_(std::move(log)) {}
  absl::Status Subscribe();

  const std::unique_ptr<FleetLog> log_;
  Mutex mutex_;
  NatsSubscriptionPtr beats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
