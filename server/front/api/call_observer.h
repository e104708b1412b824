// SPDX-License-Identifier: Apache-2.0
// Events of calls, streams and HTTP connections, for the metrics. Implementations are thread-safe
// and never block.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/api/method_table.h"

namespace reel::front {

// Of calls and streams in rpc/ and health/.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  virtual void CallStarted(Method method) = 0;
  virtual void CallReceived(Method method) = 0;  // a message
  virtual void CallSent(Method method) = 0;      // a message
  virtual void CallEnded(Method method, absl::StatusCode code, absl::Duration took) = 0;

  // A request for a video that rpc/ turned down before jobs/ saw it; jobs/ reports its own.
  virtual void RequestRefused(const absl::Status& why, bool detached) = 0;

  virtual void StreamOpened() = 0;
  virtual void StreamClosed() = 0;
  // Bytes in the one write that a stream has outstanding; negative when it is through.
  virtual void StreamBuffered(int64_t bytes) = 0;
  // Of a GenerateVideo call, from its arrival.
  virtual void FirstEvent(absl::Duration after) = 0;
  virtual void FirstChunk(absl::Duration after) = 0;
  virtual void PreviewSent() = 0;
  virtual void SlowReaderCut() = 0;
};

enum class DoorCut { kHeader, kBody, kStall, kIdle, kLimit };

// Of the HTTP door.
class DoorObserver {
 public:
  virtual ~DoorObserver() = default;
  // `route` is a pattern of the table, or "none".
  virtual void RequestEnded(std::string_view route, int status, absl::Duration took) = 0;
  virtual void ConnectionOpened() = 0;
  virtual void ConnectionClosed() = 0;
  virtual void ConnectionCut(DoorCut why) = 0;
};

}  // namespace reel::front
