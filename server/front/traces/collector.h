// SPDX-License-Identifier: Apache-2.0
// A destination of traces: the seam between the exporter and the network.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace reel::front {

struct SendResult {
  enum class Outcome {
    kTaken,
    kRefused,  // the same again would be refused again
    kLater,    // cannot be reached, or asks to wait
  };
  Outcome outcome = Outcome::kTaken;
  absl::Duration wait = {};   // at least, as the collector asks
  std::string why = {};       // it was not taken, or a part of it
  int64_t refused_spans = 0;  // of what was taken; they are not to be sent again
};

class Collector {
 public:
  virtual ~Collector() = default;
  // Waits for the answer, for seconds at most. On the exporter's thread.
  virtual SendResult Send(const std::string& body) = 0;
  // From any thread: the server ends, and what is still to be sent has half a second from now.
  virtual void Hurry() = 0;
};

}  // namespace reel::front
