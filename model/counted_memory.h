// SPDX-License-Identifier: Apache-2.0
// A device's memory where there is none: so many bytes, of which somebody keeps an account. The
// test card takes of it what it is told to, and on a CPU it bounds how many models are loaded.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "model/device_memory.h"

namespace reel::model {

// Confined to one thread.
class CountedMemory {
 public:
  explicit CountedMemory(int64_t total) { memory_.total = total; }

  // RESOURCE_EXHAUSTED where there are not so many left; then nothing was taken.
  absl::Status Take(int64_t bytes);
  void Give(int64_t bytes);
  // The peak since the reading before.
  DeviceMemory Read();

 private:
  DeviceMemory memory_;
};

// Bytes of it that go back when this goes. Without a memory everything fits.
class CountedBytes {
 public:
  explicit CountedBytes(std::shared_ptr<CountedMemory> memory = nullptr)
      : memory_(std::move(memory)) {}
  ~CountedBytes() { Resize(0).IgnoreError(); }
  CountedBytes(CountedBytes&& other) noexcept { *this = std::move(other); }
  CountedBytes& operator=(CountedBytes&& other) noexcept;

  // RESOURCE_EXHAUSTED: it is as it was.
  absl::Status Resize(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<CountedMemory> memory_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
