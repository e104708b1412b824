// SPDX-License-Identifier: Apache-2.0
// The interface to another node's copy of a video: its stream, from a position on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// Where a stream begins: numbers and offsets are the owner's, of that attempt.
struct PeerAsk {
  std::string address;  // HOST:PORT of the owner's listener for peers
  std::string tenant, id;
  uint64_t after_sequence = 0;
  int attempt = 0;  // 0: the owner's
  int64_t media_offset = 0;
};

// What comes, in order, on any thread; it must not wait for anything but a local file.
class PeerSink {
 public:
  virtual ~PeerSink() = default;
  // An error ends the stream; OnEnd follows with it.
  virtual absl::Status OnEntry(LogEntry entry) = 0;
  virtual absl::Status OnMedia(MediaPiece piece) = 0;
  // Once, the last. OK: the owner has told everything.
  virtual void OnEnd(const absl::Status& status) = 0;
};

// A stream that is under way; it is broken off when this goes, which waits for nothing.
class PeerStream {
 public:
  virtual ~PeerStream() = default;
};

// Thread-safe. Nothing here waits; a sink may be told before Open returns.
class PeerPort {
 public:
  virtual ~PeerPort() = default;
  virtual std::unique_ptr<PeerStream> Open(const PeerAsk& ask, std::shared_ptr<PeerSink> sink) = 0;
};

}  // namespace reel::front
