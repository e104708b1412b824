// SPDX-License-Identifier: Apache-2.0
// A job's state as its worker sends it: in memory, with limits for one state and for all together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

// Filled by one thread, then readable by any.
class StatePieces {
 public:
  // Bytes of all states in memory.
  using Total = std::atomic<int64_t>;
  // `most`: limit of this state; all together may hold twice as much.
  StatePieces(std::shared_ptr<Total> total, int64_t most) : total_(std::move(total)), most_(most) {}
  ~StatePieces() { Drop(); }
  StatePieces(const StatePieces&) = delete;
  StatePieces& operator=(const StatePieces&) = delete;

  // A piece that is out of order or exceeds a limit spoils the state, whose bytes are dropped at
  // once.
  void Add(int64_t offset, std::string bytes);
  // Size and hash that the worker reports.
  void End(int64_t size, const std::string& sha256);

  // Why it cannot be kept, judged by the pieces' sizes.
  const absl::Status& status() const { return spoilt_; }
  int64_t size() const { return size_; }
  const std::string& sha256() const { return sha256_; }
  // The whole state. DATA_LOSS: its hash differs from the reported one.
  absl::StatusOr<std::string> Join() const;

 private:
  void Spoil(absl::Status why);
  void Drop();

  const std::shared_ptr<Total> total_;
  const int64_t most_;
  std::vector<std::string> pieces_;
  int64_t size_ = 0;
  std::string sha256_;
  absl::Status spoilt_;
};

}  // namespace reel::front
