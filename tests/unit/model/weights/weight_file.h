// SPDX-License-Identifier: Apache-2.0
// Weight files for tests: right ones and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/fakes/temp_folder.h"

namespace reel::model {

// Length, header, data.
inline std::string SafetensorsBytes(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>((header.size() >> (8 * i)) & 0xff));
  return bytes + header + data;
}

// A tensor of any type with its bytes.
struct TypedTensor {
  std::string name;
  std::string type;  // "F8_E4M3", ...
  std::vector<int64_t> shape;
  std::string bytes;
};

inline std::string SafetensorsOfTypes(const std::vector<TypedTensor>& tensors,
                                      const nlohmann::json& metadata = nullptr) {
  nlohmann::json header;
  std::string data;
  if (!metadata.is_null()) header["__metadata__"] = metadata;
  for (const TypedTensor& tensor : tensors) {
    const size_t begin = data.size();
    data += tensor.bytes;
    header[tensor.name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return SafetensorsBytes(header.dump(), data);
}

inline std::string BytesOfFloats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

struct NamedShape {
  std::string name;
  std::vector<int64_t> shape;
};

// All F32; element i of the file is the float i.
inline std::string SafetensorsOf(const std::vector<NamedShape>& tensors,
                                 const std::string& metadata = "") {
  std::string header = "{", data;
  if (!metadata.empty()) header += "\"__metadata__\":" + metadata + ",";
  float next = 0;
  for (const NamedShape& tensor : tensors) {
    const size_t begin = data.size();
    int64_t count = 1;
    std::string shape;
    for (const int64_t size : tensor.shape) {
      count *= size;
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    for (int64_t i = 0; i < count; ++i, next += 1) {
      data.append(reinterpret_cast<const char*>(&next), sizeof(next));
    }
    header += "\"" + tensor.name + "\":{\"dtype\":\"F32\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) +
              "]},";
  }
  header.back() = '}';
  return SafetensorsBytes(header, data);
}

}  // namespace reel::model
