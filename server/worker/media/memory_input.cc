// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/memory_input.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace reel::worker {
namespace {

constexpr int kBufferBytes = 64 * 1024;

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryInput>> MemoryInput::Open(std::string_view bytes) {
  std::unique_ptr<MemoryInput> input(new MemoryInput(bytes));
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return absl::InternalError("Out of memory for a file's buffer");
  input->io_.reset(
      avio_alloc_context(buffer, kBufferBytes, 0, input.get(), &OnRead, nullptr, &OnSeek));
  if (!input->io_) {
    av_free(buffer);
    return absl::InternalError("Out of memory for a file's buffer");
  }
  return input;
}

int MemoryInput::OnRead(void* self, uint8_t* data, int size) {
  auto& input = *static_cast<MemoryInput*>(self);
  const size_t left = input.bytes_.size() - input.position_;
  const size_t count = std::min(left, static_cast<size_t>(std::max(size, 0)));
  if (count == 0) return AVERROR_EOF;
  std::memcpy(data, input.bytes_.data() + input.position_, count);
  input.position_ += count;
  return static_cast<int>(count);
}

int64_t MemoryInput::OnSeek(void* self, int64_t offset, int whence) {
  auto& input = *static_cast<MemoryInput*>(self);
  const auto size = static_cast<int64_t>(input.bytes_.size());
  whence &= ~AVSEEK_FORCE;
  if (whence == AVSEEK_SIZE) return size;
  int64_t target = offset;
  if (whence == SEEK_CUR) target += static_cast<int64_t>(input.position_);
  if (whence == SEEK_END) target += size;
  if (target < 0 || target > size) return AVERROR(EINVAL);
  input.position_ = static_cast<size_t>(target);
  return target;
}

}  // namespace reel::worker
