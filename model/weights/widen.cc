// SPDX-License-Identifier: Apache-2.0
#include "model/weights/widen.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/base/float_types.h"
#include "model/weights/gguf_blocks.h"

namespace reel::model {
namespace {

using Table = std::array<float, 256>;  // of each code its value

float E4m3Value(unsigned code) {
  const unsigned exponent = (code >> 3) & 15, mantissa = code & 7;
  const uint32_t sign = code >> 7 << 31;
  if (exponent == 15 && mantissa == 7) return std::bit_cast<float>(sign | 0x7fc00000u);
  // Subnormal codes have no leading one.
  const float magnitude = exponent == 0
                              ? static_cast<float>(mantissa) * 0x1p-9f
                              : std::bit_cast<float>((exponent + 120) << 23 | mantissa << 20);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

float ValueOf(TensorType type, unsigned code) {
  switch (type) {
    case TensorType::kF8E4M3:
      return E4m3Value(code);
    case TensorType::kF8E5M2:  // the upper byte of a half
      return kernels::ToFloat(kernels::Half{static_cast<uint16_t>(code << 8)});
    default:
      return static_cast<float>(static_cast<int8_t>(code));
  }
}

Table PlainTable(TensorType type) {
  Table table;
  for (unsigned code = 0; code < table.size(); ++code) table[code] = ValueOf(type, code);
  return table;
}

Table Scaled(const Table& plain, float scale, float divisor) {
  Table table;
  for (size_t code = 0; code < table.size(); ++code) {
    const float product = plain[code] * scale;
    table[code] = kernels::ToFloat(kernels::RoundTo<kernels::BFloat16>(product / divisor));
  }
  return table;
}

void LookUp(const Table& table, const std::byte* codes, absl::Span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = table[std::to_integer<size_t>(codes[i])];
}

}  // namespace

bool HasCodes(const StoredTensor& tensor) {
  const TensorType type = tensor.type();
  return BlockElementsOf(type) > 1 || type == TensorType::kF8E4M3 || type == TensorType::kF8E5M2 ||
         (type == TensorType::kI8 && !tensor.scales.empty());
}

void Widen(const StoredTensor& tensor, int64_t first, absl::Span<float> out) {
  if (const int64_t block = BlockElementsOf(tensor.type()); block > 1) {
    const int64_t begin = first / block * BytesOf(tensor.type());
    return WidenBlocks(tensor.type(), tensor.bytes().data() + begin, out);
  }
  const std::byte* codes = tensor.bytes().data() + first;
  const Table plain = PlainTable(tensor.type());
  if (tensor.scales.empty()) return LookUp(plain, codes, out);
  if (tensor.scales.size() == 1) {
    return LookUp(Scaled(plain, tensor.scales[0], tensor.divisor), codes, out);
  }
  const auto row = tensor.bytes().size() / tensor.scales.size();  // in elements
  for (size_t done = 0, at = static_cast<size_t>(first); done < out.size();) {
    const size_t count = std::min(out.size() - done, row - at % row);
    const Table table = Scaled(plain, tensor.scales[at / row], tensor.divisor);
    LookUp(table, codes + done, out.subspan(done, count));
    done += count;
    at += count;
  }
}

bool AllFinite(absl::Span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000u;
  bool finite = true;
  for (const float value : values) {
    finite &= (std::bit_cast<uint32_t>(value) & kExponent) != kExponent;
  }
  return finite;
}

}  // namespace reel::model
