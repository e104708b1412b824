// SPDX-License-Identifier: Apache-2.0
// The Range field of a request for media.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reel::front {

struct ByteRange {
  int64_t first = 0;
  std::optional<int64_t> last;  // none: open
  bool suffix = false;          // the last `first` bytes

  // RFC 8673: from `first` on, for as long as the file grows.
  bool follows() const { return last && *last >= (int64_t{1} << 53) - 1; }
};

// None where the field is to be passed over: another unit, several ranges, no such text.
std::optional<ByteRange> ParseByteRange(std::string_view field);

}  // namespace reel::front
