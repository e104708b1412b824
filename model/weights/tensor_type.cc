// SPDX-License-Identifier: Apache-2.0
#include "model/weights/tensor_type.h"

#include <array>

namespace reel::model {
namespace {

constexpr int kNotInGguf = -1;

struct Row {
  TensorType type;
  std::string_view name;
  int64_t bytes;
  int64_t elements = 1;
  int gguf = kNotInGguf;
};

// In the order of the enumeration.
constexpr std::array<Row, 27> kRows = {{
    {TensorType::kBool, "BOOL", 1},
    {TensorType::kU8, "U8", 1},
    {TensorType::kI8, "I8", 1},
    {TensorType::kF8E4M3, "F8_E4M3", 1},
    {TensorType::kF8E5M2, "F8_E5M2", 1},
    {TensorType::kI16, "I16", 2},
    {TensorType::kU16, "U16", 2},
    {TensorType::kF16, "F16", 2, 1, 1},
    {TensorType::kBf16, "BF16", 2, 1, 30},
    {TensorType::kI32, "I32", 4},
    {TensorType::kU32, "U32", 4},
    {TensorType::kF32, "F32", 4, 1, 0},
    {TensorType::kI64, "I64", 8},
    {TensorType::kU64, "U64", 8},
    {TensorType::kF64, "F64", 8},
    {TensorType::kQ4_0, "Q4_0", 18, 32, 2},
    {TensorType::kQ4_1, "Q4_1", 20, 32, 3},
    {TensorType::kQ5_0, "Q5_0", 22, 32, 6},
    {TensorType::kQ5_1, "Q5_1", 24, 32, 7},
    {TensorType::kQ8_0, "Q8_0", 34, 32, 8},
    {TensorType::kQ2K, "Q2_K", 84, 256, 10},
    {TensorType::kQ3K, "Q3_K", 110, 256, 11},
    {TensorType::kQ4K, "Q4_K", 144, 256, 12},
    {TensorType::kQ5K, "Q5_K", 176, 256, 13},
    {TensorType::kQ6K, "Q6_K", 210, 256, 14},
    {TensorType::kIq4Nl, "IQ4_NL", 18, 32, 20},
    {TensorType::kIq4Xs, "IQ4_XS", 136, 256, 23},
}};

const Row& RowOf(TensorType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view NameOf(TensorType type) { return RowOf(type).name; }

int64_t BytesOf(TensorType type) { return RowOf(type).bytes; }

int64_t BlockElementsOf(TensorType type) { return RowOf(type).elements; }

std::optional<TensorType> TensorTypeFromName(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.elements == 1 && row.name == name) return row.type;
  }
  return std::nullopt;
}

std::optional<TensorType> TensorTypeFromGguf(uint32_t number) {
  for (const Row& row : kRows) {
    if (row.gguf != kNotInGguf && static_cast<uint32_t>(row.gguf) == number) return row.type;
  }
  return std::nullopt;
}

}  // namespace reel::model
