// SPDX-License-Identifier: Apache-2.0
// The state that a job leaves, as its worker sends it: in memory, within bounds of one state and of
// all of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

// Filled by one thread, then read by any.
class StatePieces {
 public:
  // Bytes of all states that are in memory.
  using Total = std::atomic<int64_t>;
  // `most`: of this one; all together hold twice as many.
  StatePieces(std::shared_ptr<Total> total, int64_t most) : total_(std::move(total)), most_(most) {}
  ~StatePieces() { Drop(); }
  StatePieces(const StatePieces&) = delete;
  StatePieces& operator=(const StatePieces&) = delete;

  // A piece that is out of order or too much spoils the whole, whose bytes go at once.
  void Add(int64_t offset, std::string bytes);
  // What its worker says that it has sent.
  void End(int64_t size, const std::string& sha256);

  // Why it cannot be kept, as far as the sizes of its pieces tell.
  const absl::Status& status() const { return spoilt_; }
  int64_t size() const { return size_; }
  const std::string& sha256() const { return sha256_; }
  // All of it. DATA_LOSS: it has another hash than was said.
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
