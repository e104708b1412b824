// SPDX-License-Identifier: Apache-2.0
// The one connection to the brokers, which comes back by itself, and what is asked of the stream.
// Thread-safe; every call waits for the broker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_log_options.h"
#include "server/front/fleet/log_names.h"
#include "server/front/fleet/log_reader.h"
#include "server/front/fleet/nats_handles.h"

namespace reel::front {

class LogConnection {
 public:
  // Looks at the version of each server that answers, connects, and makes the stream if it is not
  // there; within `connect_limit`. UNAVAILABLE: no server, or none that has JetStream yet.
  // FAILED_PRECONDITION: a server that is too old, a stream of another kind, or one in which an
  // earlier build has this fleet's videos. Other errors are as of RefusedConnection.
  static absl::StatusOr<std::unique_ptr<LogConnection>> Open(const FleetLogOptions& options);

  // Nothing is published while this is false: libnats would keep it, and send it later.
  bool IsUp() const;
  absl::StatusOr<StreamFacts> Look() const;
  // By the clock of the broker that leads the log. UNIMPLEMENTED: brokers before 2.10 do not say.
  absl::StatusOr<absl::Time> Time() const;

  // The only way to end a subscription. libnats 3.4 looks a subscription up and reads it without
  // holding it. If it is freed while a message for it comes, the connection's thread hangs or
  // crashes.
  void Retire(NatsSubscriptionPtr subscription) const;

  // Of the servers that answered when it was opened, each once, in order.
  const std::vector<std::string>& versions() const { return versions_; }
  const FleetLogOptions& options() const { return options_; }
  const LogNames& names() const { return names_; }
  natsConnection* connection() const { return connection_.get(); }
  jsCtx* jet_stream() const { return jet_stream_.get(); }

  ~LogConnection();
  LogConnection(const LogConnection&) = delete;
  LogConnection& operator=(const LogConnection&) = delete;

 private:
  explicit LogConnection(const FleetLogOptions& options)
      : options_(options), names_(options.fleet) {}
  absl::Status TryOpen();
  absl::Status CheckServers();
  absl::Status Connect();
  absl::Status MakeStream() const;
  // Of a fleet that has no stream yet.
  absl::Status CheckOldStream() const;
  absl::Status CheckStream(const jsStreamConfig& config) const;

  const FleetLogOptions options_;
  const LogNames names_;
  std::vector<std::string> versions_;
  mutable Mutex mutex_;
  mutable std::vector<NatsSubscriptionPtr> retired_ ABSL_GUARDED_BY(mutex_);
  // In this order: the context uses the connection.
  NatsConnectionPtr connection_;
  JetStreamPtr jet_stream_;
};

}  // namespace reel::front
