// SPDX-License-Identifier: Apache-2.0
// Lets libav read a file that is in memory, so that it never opens a path or protocol.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Not movable: libav keeps a pointer to it.
class MemoryInput {
 public:
  // `bytes` must outlive the input.
  static absl::StatusOr<std::unique_ptr<MemoryInput>> Open(std::string_view bytes);
  MemoryInput(const MemoryInput&) = delete;
  MemoryInput& operator=(const MemoryInput&) = delete;

  AVIOContext* io() const { return io_.get(); }

 private:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  static int OnRead(void* self, uint8_t* data, int size);
  static int64_t OnSeek(void* self, int64_t offset, int whence);

  const std::string_view bytes_;
  size_t position_ = 0;
  AvioContextPtr io_;
};

}  // namespace reel::worker
