// SPDX-License-Identifier: Apache-2.0
// The code in every frame of the test card: a row of black and white blocks along its lower edge
// that survives video compression. Tests read it back to prove that no two jobs were mixed up.
//
// The code is three numbers, most significant bit first, row by row from the left, white = 1:
//   hash of (prompt, seed, width, height), frame number (10 bits), check sum (6 bits).
// A block is 16 pixels a side and the hash has 32 bits, if that takes at most a quarter of the
// height. Otherwise blocks are of 8, then of 4 pixels. The smallest pictures (32x32) have 4 pixels
// and 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace reel::model {

struct CodeLayout {
  int block = 0;  // pixels
  int columns = 0;
  int rows = 0;
  int hash_bits = 0;
  int top = 0;  // y of the first row of blocks
};

// For a picture of at least 32 pixels a side.
CodeLayout CodeLayoutOf(int width, int height);

// Truncates to the bits that fit into a picture of this size. Only the low 32 bits of the seed
// count.
uint32_t PictureHash(std::string_view prompt, uint64_t seed, int width, int height);

struct PictureCode {
  uint32_t hash = 0;
  int frame = 0;  // modulo 1024

  friend bool operator==(const PictureCode&, const PictureCode&) = default;
};

// Whether each block is white, row by row; `columns * rows` at most.
std::vector<bool> EncodeCode(const PictureCode& code, const CodeLayout& layout);

// Reads a decoded frame's luma plane, `stride` bytes a row. nullopt if there is no code.
std::optional<PictureCode> DecodeCode(absl::Span<const uint8_t> luma, int stride, int width,
                                      int height);

}  // namespace reel::model
