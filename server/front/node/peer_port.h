// SPDX-License-Identifier: Apache-2.0
// Interface for streaming a video from another node, from a position on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// A request for a stream from a position on. Numbers and offsets are the owner's, for that attempt.
struct PeerAsk {
  std::string address;  // HOST:PORT of the owner's listener for peers
  std::string tenant, id;
  uint64_t after_sequence = 0;
  int attempt = 0;  // 0: the owner's current one
  int64_t media_offset = 0;
};

// Receives the stream in order, on any thread. Must not block on anything but a local file.
class PeerSink {
 public:
  virtual ~PeerSink() = default;
  // An error ends the stream; OnEnd follows with it.
  virtual absl::Status OnEntry(LogEntry entry) = 0;
  virtual absl::Status OnMedia(MediaPiece piece) = 0;
  // Called once, last. OK: the owner has sent everything.
  virtual void OnEnd(const absl::Status& status) = 0;
};

// A running stream. The destructor cancels it and does not block.
class PeerStream {
 public:
  virtual ~PeerStream() = default;
};

// Thread-safe. Never blocks. May call the sink before Open returns.
class PeerPort {
 public:
  virtual ~PeerPort() = default;
  virtual std::unique_ptr<PeerStream> Open(const PeerAsk& ask, std::shared_ptr<PeerSink> sink) = 0;
};

}  // namespace reel::front
