// SPDX-License-Identifier: Apache-2.0
// The worker's end of the Attach stream: commands in, events out, a heartbeat every second. Of this
// folder only its source sees gRPC.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/dispatch/kernel_listing.h"
#include "server/convert/worker_convert.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

struct LinkOptions {
  std::string socket;  // path
  std::string worker;  // its name
  std::string token;
  // Identifies the worker in Hello.
  std::string device;
  int64_t memory_total_bytes = 0;
  int compute_capability = 0;
  int64_t copy_bytes_per_second = 0;
  std::vector<kernels::OpListing> kernels;
  std::map<std::string, std::string> versions;

  absl::Duration dial_timeout = absl::Seconds(10);
  absl::Duration heartbeat = absl::Seconds(1);
  int64_t media_buffer_bytes = 4 << 20;
};

// What the link needs from the engine. Thread-safe, never blocks.
class CommandTarget {
 public:
  virtual ~CommandTarget() = default;
  virtual void Post(EngineCommand command) = 0;
  virtual absl::Duration in_step() const = 0;
};

// As EngineEvents it is called on the engine's and the encoders' threads; only JobMedia may block,
// while the front does not read. Reports may come before Serve: KernelsListed does, so that it is
// there before any model.
class WorkerLink final : public EngineEvents {
 public:
  // Connects, sends Hello and waits for the settings. UNAVAILABLE when reeld does not listen; else
  // why it refused. The heartbeat begins here.
  static absl::StatusOr<std::unique_ptr<WorkerLink>> Connect(const LinkOptions& options);
  // Leaves without waiting.
  ~WorkerLink() override;

  const WorkerSettings& settings() const;

  struct Callbacks {
    // The stream ended without a call of Leave. Called on the link's thread.
    absl::AnyInvocable<void()> on_broken;
    // Called on the thread that reported it.
    absl::AnyInvocable<void(const absl::Status&)> on_device_lost;
  };
  // Hands commands to `target` in their order, until Leave has returned. Call once.
  void Serve(CommandTarget& target, Callbacks callbacks);
  // Sends what is queued and waits at most `patience` until the front has read it and closed. Later
  // events are dropped. Not on the link's thread; idempotent.
  void Leave(absl::Duration patience);

  void Report(WorkerReport report) override;
  void DeviceLost(const absl::Status& error) override;
  void Drained() override;

 private:
  class Stream;
  explicit WorkerLink(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace reel::worker
