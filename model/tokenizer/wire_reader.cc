// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/wire_reader.h"

#include <cstring>

namespace reel::model {

bool WireReader::Fail() {
  ok_ = false;
  return false;
}

bool WireReader::Varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return Fail();
}

bool WireReader::Take(uint64_t size, std::string_view& part) {
  if (size > rest_.size()) return Fail();
  part = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::Next() {
  if (!ok_ || rest_.empty()) return false;
  uint64_t tag = 0;
  if (!Varint(tag)) return false;
  field_ = tag >> 3;
  number_ = 0;
  float32_ = 0;
  bytes_ = {};
  std::string_view raw;
  uint64_t size = 0;
  switch (tag & 7) {
    case 0:
      return Varint(number_);
    case 1:
      return Take(8, raw);
    case 2:
      return Varint(size) && Take(size, bytes_);
    case 5:
      if (!Take(4, raw)) return false;
      std::memcpy(&float32_, raw.data(), 4);
      return true;
    default:
      return Fail();
  }
}

}  // namespace reel::model
