// SPDX-License-Identifier: Apache-2.0
// Element types of weight files: those of safetensors, and the blocks of codes of GGUF.
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
  // Blocks of codes with scales of their own.
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kIq4Nl,
  kIq4Xs,
};

inline constexpr int64_t kMostBlockElements = 256;

// "F32", "BF16", ... as in a header; "Q4_K" as GGUF's tools say.
std::string_view NameOf(TensorType type);
// Of a block.
int64_t BytesOf(TensorType type);
// 1 for types that have no blocks.
int64_t BlockElementsOf(TensorType type);
// nullopt: safetensors has no such type, or Reel does not read it.
std::optional<TensorType> TensorTypeFromName(std::string_view name);
// By GGUF's number; nullopt as above.
std::optional<TensorType> TensorTypeFromGguf(uint32_t number);

}  // namespace reel::model
