// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_values.h"

#include <cstdint>
#include <cstring>

#include "kernels/base/float_types.h"

namespace reel::model {
namespace {

// Bits of an element at a place that need not be aligned.
template <typename Bits>
Bits BitsAt(absl::Span<const std::byte> bytes, size_t index) {
  Bits bits;
  std::memcpy(&bits, bytes.data() + index * sizeof(Bits), sizeof(bits));
  return bits;
}

template <typename Bits>
bool NoneHasAll(absl::Span<const std::byte> bytes, Bits exponent) {
  bool none = true;
  for (size_t i = 0; i < bytes.size() / sizeof(Bits); ++i) {
    none &= (BitsAt<Bits>(bytes, i) & exponent) != exponent;
  }
  return none;
}

template <typename Bits>
bool NoneHasAny(absl::Span<const std::byte> bytes, Bits magnitude) {
  Bits any = 0;
  for (size_t i = 0; i < bytes.size() / sizeof(Bits); ++i) {
    any = static_cast<Bits>(any | (BitsAt<Bits>(bytes, i) & magnitude));
  }
  return any == 0;
}

}  // namespace

bool IsAdapterType(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF16 || type == TensorType::kBf16;
}

bool AllFiniteIn(absl::Span<const std::byte> bytes, TensorType type) {
  if (type == TensorType::kF32) return NoneHasAll<uint32_t>(bytes, 0x7f800000u);
  return NoneHasAll<uint16_t>(bytes, type == TensorType::kF16 ? 0x7c00 : 0x7f80);
}

bool AllZeroIn(absl::Span<const std::byte> bytes, TensorType type) {
  if (type == TensorType::kF32) return NoneHasAny<uint32_t>(bytes, 0x7fffffffu);
  return NoneHasAny<uint16_t>(bytes, 0x7fff);
}

std::optional<double> OnlyValue(absl::Span<const std::byte> bytes, TensorType type) {
  const bool known = IsAdapterType(type) || type == TensorType::kI64;
  if (!known || bytes.size() != static_cast<size_t>(BytesOf(type))) return std::nullopt;
  switch (type) {
    case TensorType::kF32:
      return static_cast<double>(std::bit_cast<float>(BitsAt<uint32_t>(bytes, 0)));
    case TensorType::kF16:
      return static_cast<double>(kernels::ToFloat(kernels::Half{BitsAt<uint16_t>(bytes, 0)}));
    case TensorType::kBf16:
      return static_cast<double>(kernels::ToFloat(kernels::BFloat16{BitsAt<uint16_t>(bytes, 0)}));
    default:
      return static_cast<double>(BitsAt<int64_t>(bytes, 0));
  }
}

}  // namespace reel::model
