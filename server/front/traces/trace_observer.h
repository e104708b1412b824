// SPDX-License-Identifier: Apache-2.0
// Events of traces/ for the metrics.
#pragma once

#include <cstdint>

namespace reel::front {

enum class TraceEnd {
  kSent,
  kFull,     // too many waited
  kRefused,  // by the collector
  kLost,     // could not be sent before the server's end
};

class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  // So many traces came to that end. On any thread; never blocks.
  virtual void TracesEnded(TraceEnd how, int count) = 0;
  // A collector took traces without so many of their spans. As above.
  virtual void SpansRefused(int64_t count) = 0;
};

}  // namespace reel::front
