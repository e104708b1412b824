// SPDX-License-Identifier: Apache-2.0
// One worker's Attach stream without gRPC: what its two ends in this process ask of each other.
#pragma once

#include <string>

#include "reel/worker/v1/worker.pb.h"

namespace reel::front {

// The stream. Thread-safe, never blocks, harmless after its end.
class Session {
 public:
  virtual ~Session() = default;
  // Empty `job`: concerns none. See SendQueue for what overtakes what.
  virtual void Send(const std::string& job, worker::v1::AttachResponse message) = 0;
  // Reads on, after a message of which the owner said false.
  virtual void Resume() = 0;
  // Ends it from this side; OnBroken follows.
  virtual void Close() = 0;
};

// Who the stream belongs to. Called on gRPC threads, one call at a time: must not block.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // False: read nothing more until Resume.
  virtual bool OnMessage(worker::v1::AttachRequest message) = 0;
  // Exactly once, last.
  virtual void OnBroken() = 0;
};

}  // namespace reel::front
