// SPDX-License-Identifier: Apache-2.0
// Reads protobuf's wire format: spiece.model is a serialised message. Not with a protobuf library:
// this folder must not see any, and libsentencepiece exports its own, of another version than the
// server's.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel::model {

// Iterates over the fields of one message:
//   while (reader.Next()) if (reader.field() == 1) use(reader.bytes());
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // False at the end, and if the bytes are not a message (see ok()).
  bool Next();
  bool ok() const { return ok_; }

  uint64_t field() const { return field_; }
  // The value of the field; zero or empty if it is of another kind.
  uint64_t number() const { return number_; }        // varint
  float float32() const { return float32_; }         // 32-bit
  std::string_view bytes() const { return bytes_; }  // string, bytes, message

 private:
  bool Fail();
  bool Varint(uint64_t& value);
  bool Take(uint64_t size, std::string_view& part);

  std::string_view rest_;
  bool ok_ = true;
  uint64_t field_ = 0;
  uint64_t number_ = 0;
  float float32_ = 0;
  std::string_view bytes_;
};

}  // namespace reel::model
