// SPDX-License-Identifier: Apache-2.0
#include "model/weights/tensor_type.h"

#include <array>

namespace reel::model {
namespace {

struct Row {
  TensorType type;
  std::string_view name;
  int64_t bytes;
};

// In the order of the enumeration.
constexpr std::array<Row, 15> kRows = {{
    {TensorType::kBool, "BOOL", 1},
    {TensorType::kU8, "U8", 1},
    {TensorType::kI8, "I8", 1},
    {TensorType::kF8E4M3, "F8_E4M3", 1},
    {TensorType::kF8E5M2, "F8_E5M2", 1},
    {TensorType::kI16, "I16", 2},
    {TensorType::kU16, "U16", 2},
    {TensorType::kF16, "F16", 2},
    {TensorType::kBf16, "BF16", 2},
    {TensorType::kI32, "I32", 4},
    {TensorType::kU32, "U32", 4},
    {TensorType::kF32, "F32", 4},
    {TensorType::kI64, "I64", 8},
    {TensorType::kU64, "U64", 8},
    {TensorType::kF64, "F64", 8},
}};

}  // namespace

std::string_view NameOf(TensorType type) { return kRows[static_cast<size_t>(type)].name; }

int64_t BytesOf(TensorType type) { return kRows[static_cast<size_t>(type)].bytes; }

std::optional<TensorType> TensorTypeFromName(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace reel::model
