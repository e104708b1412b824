// SPDX-License-Identifier: Apache-2.0
// Tensors of a component as those of a GGUF file, under other names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/weights/weight_set.h"
#include "tests/fakes/gguf_bytes.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::testing {

inline constexpr uint32_t kGgufF32 = 0, kGgufBf16 = 30;

// All must be F32 or BF16. Tensors without a name are left out.
inline std::vector<GgufTensor> GgufTensorsOf(
    const model::WeightSet& stored,
    const std::function<std::optional<std::string>(const std::string&)>& rename) {
  std::vector<GgufTensor> tensors;
  for (const auto& [name, tensor] : stored.tensors()) {
    const std::optional<std::string> renamed = rename(name);
    if (!renamed.has_value()) continue;
    tensors.push_back(
        {*renamed,
         {tensor.entry->shape.begin(), tensor.entry->shape.end()},
         tensor.type() == model::TensorType::kBf16 ? kGgufBf16 : kGgufF32,
         {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()}});
  }
  return tensors;
}

// The same as safetensors, which have tensors of more than four sides.
inline std::string AsSafetensors(const std::vector<GgufTensor>& tensors) {
  std::vector<model::TypedTensor> typed;
  for (const GgufTensor& tensor : tensors) {
    typed.push_back({tensor.name,
                     tensor.type == kGgufBf16 ? "BF16" : "F32",
                     {tensor.sides.begin(), tensor.sides.end()},
                     tensor.data});
  }
  return model::SafetensorsOfTypes(typed);
}

}  // namespace reel::testing
