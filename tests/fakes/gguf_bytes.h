// SPDX-License-Identifier: Apache-2.0
// GGUF files for tests, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reel::testing {

template <typename T>
std::string Bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
inline std::string GgufText(std::string_view text) {
  return Bytes(uint64_t{text.size()}) + std::string(text);
}
// A pair of a key and a value whose type and bytes are given.
inline std::string GgufPair(std::string_view key, uint32_t type, const std::string& value) {
  return GgufText(key) + Bytes(type) + value;
}
inline std::string GgufPair(std::string_view key, std::string_view text) {
  return GgufPair(key, 8, GgufText(text));
}

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> sides;  // slowest first, as torch has them
  uint32_t type = 0;            // GGUF's number
  std::string data;
};

inline std::string Padded(std::string bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  return bytes;
}

// A file of version 3.
inline std::string GgufFile(const std::vector<std::string>& pairs,
                            const std::vector<GgufTensor>& tensors, size_t alignment = 32) {
  std::string header =
      "GGUF" + Bytes(uint32_t{3}) + Bytes(uint64_t{tensors.size()}) + Bytes(uint64_t{pairs.size()});
  for (const std::string& pair : pairs) header += pair;
  std::string data;
  for (const GgufTensor& tensor : tensors) {
    header += GgufText(tensor.name) + Bytes(static_cast<uint32_t>(tensor.sides.size()));
    for (auto side = tensor.sides.rbegin(); side != tensor.sides.rend(); ++side) {
      header += Bytes(*side);
    }
    header += Bytes(tensor.type) + Bytes(uint64_t{data.size()});
    data = Padded(data + tensor.data, alignment);
  }
  return Padded(header, alignment) + data;
}

}  // namespace reel::testing
