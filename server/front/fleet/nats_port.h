// SPDX-License-Identifier: Apache-2.0
// A node's door to the brokers: the log, and beats, which are not stored.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_log.h"
#include "server/front/fleet/log_checks.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

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
