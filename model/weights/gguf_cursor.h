// SPDX-License-Identifier: Apache-2.0
// Reads the values of a GGUF header in turn, none beyond the end of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace reel::model {

// Borrows the bytes. Little-endian, as the machines that Reel runs on are.
class GgufCursor {
 public:
  explicit GgufCursor(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  template <typename T>
  absl::StatusOr<T> Number() {
    static_assert(std::is_arithmetic_v<T>);
    if (left() < sizeof(T)) return Ended();
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  // A length and as many bytes, borrowed.
  absl::StatusOr<std::string_view> Text(uint64_t most_bytes);
  // `count` values of `bytes` each, whose product does not wrap.
  absl::Status Skip(uint64_t count, uint64_t bytes);

 private:
  absl::Status Ended() const;

  absl::Span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace reel::model
