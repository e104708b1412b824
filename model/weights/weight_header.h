// SPDX-License-Identifier: Apache-2.0
// The tensors of a weight file, as its header lists them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/weights/tensor_type.h"

namespace reel::model {

// The position of a tensor, in bytes from the beginning of the file.
struct TensorEntry {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<int64_t> shape;  // empty: a scalar
  int64_t begin = 0;
  int64_t end = 0;  // end - begin = elements * BytesOf(type)
};

struct WeightHeader {
  std::vector<TensorEntry>
      tensors;  // by position in the file; they cover it without gap or overlap
  std::map<std::string, std::string> metadata;
};

}  // namespace reel::model
