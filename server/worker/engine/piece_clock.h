// SPDX-License-Identifier: Apache-2.0
// The engine thread's progress, readable from the heartbeat's thread while device work blocks it.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "server/worker/engine/inbox.h"

namespace reel::worker {

class PieceClock {
 public:
  // Marks a piece for as long as it lives.
  class Piece {
   public:
    explicit Piece(PieceClock& clock) : clock_(clock), start_(SteadyNow()) {
      clock_.started_ns_.store(absl::ToUnixNanos(start_), std::memory_order_relaxed);
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece() { clock_.started_ns_.store(0, std::memory_order_relaxed); }
    absl::Duration elapsed() const { return SteadyNow() - start_; }

   private:
    PieceClock& clock_;
    absl::Time start_;
  };

  // Thread-safe.
  absl::Duration in_piece() const {
    const int64_t started = started_ns_.load(std::memory_order_relaxed);
    return started == 0 ? absl::ZeroDuration() : SteadyNow() - absl::FromUnixNanos(started);
  }

 private:
  std::atomic<int64_t> started_ns_{0};  // 0: between pieces
};

}  // namespace reel::worker
