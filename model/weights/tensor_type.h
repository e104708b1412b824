// SPDX-License-Identifier: Apache-2.0
// Element types of weight files, as safetensors names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reel::model {

enum class TensorType : uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kI16,
  kU16,
  kF16,
  kBf16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64,
};

// "F32", "BF16", ... as in a header.
std::string_view NameOf(TensorType type);
int64_t BytesOf(TensorType type);
// nullopt: safetensors has no such type, or Reel does not read it.
std::optional<TensorType> TensorTypeFromName(std::string_view name);

}  // namespace reel::model
