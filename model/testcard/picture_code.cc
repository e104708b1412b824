// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/picture_code.h"

#include <algorithm>

#include "kernels/base/fnv1a.h"

namespace reel::model {
namespace {

constexpr int kFrameBits = 10;
constexpr int kCheckBits = 6;
constexpr int kLongHash = 32;
constexpr int kShortHash = 16;
constexpr int kThreshold = 126;  // half-way between black (16) and white (235)

int TotalBits(const CodeLayout& layout) { return layout.hash_bits + kFrameBits + kCheckBits; }

CodeLayout Arrange(int width, int height, int block, int hash_bits) {
  CodeLayout layout;
  layout.block = block;
  layout.hash_bits = hash_bits;
  layout.columns = std::min(width / block, TotalBits(layout));
  layout.rows = (TotalBits(layout) + layout.columns - 1) / layout.columns;
  layout.top = height - layout.rows * block;
  return layout;
}

uint32_t Check(const PictureCode& code) {
  const uint64_t mixed =
      (uint64_t{code.hash} << kFrameBits | static_cast<uint64_t>(code.frame)) * 0x9E3779B97F4A7C15;
  return static_cast<uint32_t>(mixed >> (64 - kCheckBits));
}

bool IsWhite(absl::Span<const uint8_t> luma, int stride, const CodeLayout& layout, int index) {
  // Compression blurs the outer quarter of a block.
  const int margin = layout.block / 4;
  const int left = index % layout.columns * layout.block;
  const int top = layout.top + index / layout.columns * layout.block;
  int sum = 0, count = 0;
  for (int y = top + margin; y < top + layout.block - margin; ++y) {
    for (int x = left + margin; x < left + layout.block - margin; ++x, ++count) {
      sum += luma[static_cast<size_t>(y) * static_cast<size_t>(stride) + static_cast<size_t>(x)];
    }
  }
  return sum > kThreshold * count;
}

}  // namespace

CodeLayout CodeLayoutOf(int width, int height) {
  for (const int block : {16, 8, 4}) {
    const CodeLayout layout = Arrange(width, height, block, kLongHash);
    if (layout.rows * block <= height / 4) return layout;
  }
  return Arrange(width, height, 4, kShortHash);
}

uint32_t PictureHash(std::string_view prompt, uint64_t seed, int width, int height) {
  Fnv1a hash;
  hash.Add(prompt);
  hash.Add(static_cast<uint32_t>(seed));
  hash.Add(static_cast<uint32_t>(width));
  hash.Add(static_cast<uint32_t>(height));
  return hash.value() >> (kLongHash - CodeLayoutOf(width, height).hash_bits);
}

std::vector<bool> EncodeCode(const PictureCode& code, const CodeLayout& layout) {
  std::vector<bool> bits;
  const auto add = [&](uint32_t value, int count) {
    for (int bit = count - 1; bit >= 0; --bit) bits.push_back((value >> bit & 1) != 0);
  };
  const PictureCode shown{code.hash, code.frame % (1 << kFrameBits)};
  add(shown.hash, layout.hash_bits);
  add(static_cast<uint32_t>(shown.frame), kFrameBits);
  add(Check(shown), kCheckBits);
  return bits;
}

std::optional<PictureCode> DecodeCode(absl::Span<const uint8_t> luma, int stride, int width,
                                      int height) {
  if (width < 32 || height < 32 || stride < width) return std::nullopt;
  const size_t needed =
      static_cast<size_t>(stride) * static_cast<size_t>(height - 1) + static_cast<size_t>(width);
  if (luma.size() < needed) return std::nullopt;
  const CodeLayout layout = CodeLayoutOf(width, height);
  int next = 0;
  const auto read = [&](int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) {
      value = value << 1 | (IsWhite(luma, stride, layout, next++) ? 1u : 0u);
    }
    return value;
  };
  PictureCode code;
  code.hash = read(layout.hash_bits);
  code.frame = static_cast<int>(read(kFrameBits));
  if (read(kCheckBits) != Check(code)) return std::nullopt;
  return code;
}

}  // namespace reel::model
