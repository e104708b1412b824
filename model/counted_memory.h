// SPDX-License-Identifier: Apache-2.0
// Accounts for memory where a device has none of its own: a number of bytes. The test card charges
// what it is told to, and on a CPU it bounds how many models are loaded.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "model/device_memory.h"

namespace reel::model {

// Used by one thread.
class CountedMemory {
 public:
  explicit CountedMemory(int64_t total) { memory_.total = total; }

  // RESOURCE_EXHAUSTED if fewer bytes are left; then nothing is charged.
  absl::Status Take(int64_t bytes);
  void Give(int64_t bytes);
  // The peak since the previous reading.
  DeviceMemory Read();

 private:
  DeviceMemory memory_;
};

// A charge that is released with this object. Without a memory every charge fits.
class CountedBytes {
 public:
  explicit CountedBytes(std::shared_ptr<CountedMemory> memory = nullptr)
      : memory_(std::move(memory)) {}
  ~CountedBytes() { Resize(0).IgnoreError(); }
  CountedBytes(CountedBytes&& other) noexcept { *this = std::move(other); }
  CountedBytes& operator=(CountedBytes&& other) noexcept;

  // RESOURCE_EXHAUSTED: the charge is unchanged.
  absl::Status Resize(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<CountedMemory> memory_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
