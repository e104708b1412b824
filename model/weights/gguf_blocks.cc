// SPDX-License-Identifier: Apache-2.0
// In fp32, each product and each sum rounded by itself: this source is compiled without
// contraction. `d` and `m` are a block's scale and least value, f16. Bits of a code may lie in
// several places.
#include "model/weights/gguf_blocks.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/base/float_types.h"

namespace reel::model {
namespace {

using Block = const uint8_t*;

constexpr std::array<float, 16> kIq4Values = {-127, -104, -83, -65, -49, -35, -22, -10,
                                              1,    13,   25,  38,  53,  69,  89,  113};

float HalfAt(Block bytes) {
  return kernels::ToFloat(
      kernels::Half{static_cast<uint16_t>(bytes[0] | static_cast<unsigned>(bytes[1]) << 8)});
}

uint32_t WordAt(Block bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The first half of a block of 32 has the low nibbles.
unsigned Nibble(Block codes, unsigned i) { return i < 16 ? codes[i] & 15u : codes[i - 16] >> 4; }

float Signed(unsigned code, int zero) { return static_cast<float>(static_cast<int>(code) - zero); }

void WidenQ8_0(Block b, float* y) {
  const float d = HalfAt(b);
  for (unsigned i = 0; i < 32; ++i) y[i] = d * static_cast<float>(static_cast<int8_t>(b[2 + i]));
}

void WidenQ4_0(Block b, float* y) {
  const float d = HalfAt(b);
  for (unsigned i = 0; i < 32; ++i) y[i] = d * Signed(Nibble(b + 2, i), 8);
}

void WidenQ4_1(Block b, float* y) {
  const float d = HalfAt(b), m = HalfAt(b + 2);
  for (unsigned i = 0; i < 32; ++i) y[i] = d * static_cast<float>(Nibble(b + 4, i)) + m;
}

void WidenQ5_0(Block b, float* y) {
  const float d = HalfAt(b);
  const uint32_t high = WordAt(b + 2);
  for (unsigned i = 0; i < 32; ++i) {
    y[i] = d * Signed(Nibble(b + 6, i) | ((high >> i) & 1u) << 4, 16);
  }
}

void WidenQ5_1(Block b, float* y) {
  const float d = HalfAt(b), m = HalfAt(b + 2);
  const uint32_t high = WordAt(b + 4);
  for (unsigned i = 0; i < 32; ++i) {
    y[i] = d * static_cast<float>(Nibble(b + 8, i) | ((high >> i) & 1u) << 4) + m;
  }
}

void WidenQ2K(Block b, float* y) {
  const float d = HalfAt(b + 80), m = HalfAt(b + 82);
  const Block codes = b + 16;
  for (unsigned g = 0; g < 16; ++g) {  // groups of 16, each with a scale and a least value
    const float scale = d * static_cast<float>(b[g] & 15u),
                least = m * static_cast<float>(b[g] >> 4);
    const unsigned half = g / 8, shift = g % 8 / 2 * 2, column = g % 2 * 16;
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned code = (codes[32 * half + column + i] >> shift) & 3u;
      y[16 * g + i] = scale * static_cast<float>(code) - least;
    }
  }
}

void WidenQ3K(Block b, float* y) {
  const Block high = b, codes = b + 32, s = b + 96;
  const float d = HalfAt(b + 108);
  for (unsigned g = 0; g < 16; ++g) {
    const unsigned low = g < 8 ? s[g % 8] & 15u : s[g % 8] >> 4;
    const unsigned top = (s[8 + g % 4] >> (2 * (g / 4))) & 3u;
    const float scale = d * Signed(low | top << 4, 32);
    const unsigned half = g / 8, shift = g % 8 / 2 * 2, column = g % 2 * 16;
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned code = (codes[32 * half + column + i] >> shift) & 3u;
      const unsigned bit = (high[column + i] >> (g / 2)) & 1u;
      y[16 * g + i] = scale * Signed(code, bit != 0 ? 0 : 4);
    }
  }
}

// Six bits for the scale and six for the least value of each of eight groups.
struct SixBits {
  float scale, least;
};
SixBits SixBitsOf(Block s, unsigned g) {
  if (g < 4) return {static_cast<float>(s[g] & 63u), static_cast<float>(s[g + 4] & 63u)};
  const unsigned scale = (s[g + 4] & 15u) | static_cast<unsigned>(s[g - 4] >> 6) << 4;
  const unsigned least = static_cast<unsigned>(s[g + 4] >> 4) | static_cast<unsigned>(s[g] >> 6)
                                                                    << 4;
  return {static_cast<float>(scale), static_cast<float>(least)};
}

// `high`: where each code's fifth bit is; null: it has four.
void WidenK4(Block b, Block high, Block codes, float* y) {
  const float d = HalfAt(b), m = HalfAt(b + 2);
  for (unsigned g = 0; g < 8; ++g) {
    const SixBits bits = SixBitsOf(b + 4, g);
    const float scale = d * bits.scale, least = m * bits.least;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned byte = codes[32 * (g / 2) + i];
      unsigned code = g % 2 == 0 ? byte & 15u : byte >> 4;
      if (high != nullptr) code |= ((high[i] >> g) & 1u) << 4;
      y[32 * g + i] = scale * static_cast<float>(code) - least;
    }
  }
}

void WidenQ4K(Block b, float* y) { WidenK4(b, nullptr, b + 16, y); }
void WidenQ5K(Block b, float* y) { WidenK4(b, b + 16, b + 48, y); }

void WidenQ6K(Block b, float* y) {
  const Block low = b, high = b + 128, scales = b + 192;
  const float d = HalfAt(b + 208);
  for (unsigned g = 0; g < 16; ++g) {
    const float scale = d * static_cast<float>(static_cast<int8_t>(scales[g]));
    const unsigned half = g / 8, k = g % 8 / 2, column = g % 2 * 16;
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned byte = low[64 * half + 32 * (k % 2) + column + i];
      const unsigned top = (high[32 * half + column + i] >> (2 * k)) & 3u;
      y[16 * g + i] = scale * Signed((k < 2 ? byte & 15u : byte >> 4) | top << 4, 32);
    }
  }
}

void WidenIq4Nl(Block b, float* y) {
  const float d = HalfAt(b);
  for (unsigned i = 0; i < 32; ++i) y[i] = d * kIq4Values[Nibble(b + 2, i)];
}

void WidenIq4Xs(Block b, float* y) {
  const float d = HalfAt(b);
  const unsigned top = b[2] | static_cast<unsigned>(b[3]) << 8;
  for (unsigned g = 0; g < 8; ++g) {
    const unsigned low = (b[4 + g / 2] >> (4 * (g % 2))) & 15u;
    const float scale = d * Signed(low | ((top >> (2 * g)) & 3u) << 4, 32);
    for (unsigned i = 0; i < 32; ++i) y[32 * g + i] = scale * kIq4Values[Nibble(b + 8 + 16 * g, i)];
  }
}

template <void (*widen)(Block, float*)>
void Each(TensorType type, Block blocks, absl::Span<float> out) {
  const auto elements = static_cast<size_t>(BlockElementsOf(type));
  const auto bytes = static_cast<size_t>(BytesOf(type));
  for (size_t i = 0; i < out.size() / elements; ++i) {
    widen(blocks + i * bytes, out.data() + i * elements);
  }
}

}  // namespace

void WidenBlocks(TensorType type, const std::byte* blocks, absl::Span<float> out) {
  const Block bytes = reinterpret_cast<Block>(blocks);
  switch (type) {
    case TensorType::kQ4_0:
      return Each<WidenQ4_0>(type, bytes, out);
    case TensorType::kQ4_1:
      return Each<WidenQ4_1>(type, bytes, out);
    case TensorType::kQ5_0:
      return Each<WidenQ5_0>(type, bytes, out);
    case TensorType::kQ5_1:
      return Each<WidenQ5_1>(type, bytes, out);
    case TensorType::kQ8_0:
      return Each<WidenQ8_0>(type, bytes, out);
    case TensorType::kQ2K:
      return Each<WidenQ2K>(type, bytes, out);
    case TensorType::kQ3K:
      return Each<WidenQ3K>(type, bytes, out);
    case TensorType::kQ4K:
      return Each<WidenQ4K>(type, bytes, out);
    case TensorType::kQ5K:
      return Each<WidenQ5K>(type, bytes, out);
    case TensorType::kQ6K:
      return Each<WidenQ6K>(type, bytes, out);
    case TensorType::kIq4Nl:
      return Each<WidenIq4Nl>(type, bytes, out);
    case TensorType::kIq4Xs:
      return Each<WidenIq4Xs>(type, bytes, out);
    default:
      return;  // no block
  }
}

}  // namespace reel::model
