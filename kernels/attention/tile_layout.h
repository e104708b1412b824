// SPDX-License-Identifier: Apache-2.0
// Tiles of 8-bit keys and values, 128 of a head, as attention_8_bits.cuh reads them. A tile has the
// layout that the tensor cores need in shared memory, so one copy loads it. Included by nvcc too.
//
// Keys are e4m3, times 2^-ke with a largest of 8 to 16, or rotated int8 with a scale of the tile
// (attention_int8_sm90.cu). Values are e4m3, times 2^-ve with a largest of 128 to 256. Both
// exponents are the tile's own. A value has one more channel after its own, of 2^-ve for every key,
// so that the product with values also gives the sum of the weights. In a tile with anything that
// is not finite this channel is NaN. Positions past the last key repeat that key and have no value.
//
// The channels of a head are taken in spans of 64, of each of which a lane has 16 neighbours.
//
// Tiles of means, for sm90_routed, have a key for each of the tiles above: the means of its keys
// and of its values. Their ve is larger by log2(128), so that each weighs as much as 128 keys.
#pragma once

#include <cstdint>

namespace reel::kernels {

inline constexpr int kTileKeys = 128;     // places
inline constexpr int kSpanChannels = 64;  // of a head

// Heads of this width have tiles.
constexpr bool HasKeyTiles(int64_t width) { return width == 64 || width == 128; }

template <int kWidth>
struct KeyTile {
  static constexpr int kSpans = kWidth / kSpanChannels;
  static constexpr int kValueRows = kWidth + 8;  // a matrix of 8 has the sums
  static constexpr int kMatrix = 128;            // 8 rows of 16 bytes
  // To the next 16 bytes of all keys, of all rows of values.
  static constexpr int kKeyStep = kTileKeys / 8 * kMatrix;
  static constexpr int kValueStep = kValueRows / 8 * kMatrix;
  static constexpr int kValues = kWidth / 16 * kKeyStep;  // where they begin
  static constexpr int kFactors = kValues + kTileKeys / 16 * kValueStep;
  static constexpr int kBytes = kFactors + 128;  // tiles begin at multiples of it

  // Offsets of the keys for a product of 32 channels, and of the values of a span.
  static constexpr int KeysOf(int product) { return 2 * product * kKeyStep; }
  static constexpr int ValuesOf(int span) { return kValues + span * kSpanChannels / 8 * kMatrix; }

  // 32 channels of a key at a time are four words for each of four lanes. A lane's queries come
  // from 16 neighbours: channel 16 lane + 8 half + 4 part + i is byte 4 lane + i of 16.
  static constexpr int KeyByte(int key, int channel) {
    const int lane = channel % kSpanChannels / 16, half = channel % 16 / 8, part = channel % 8 / 4;
    return KeysOf(2 * (channel / kSpanChannels) + half) + part * kKeyStep + key / 8 * kMatrix +
           key % 8 * 16 + 4 * lane + channel % 4;
  }
  // Which channel a row of values is: a lane ends with 16 neighbours.
  static constexpr int ChannelOf(int row) {
    const int of_span = row % kSpanChannels;
    return row - of_span + 16 * (row % 8 / 2) + 2 * (of_span / 8) + row % 2;
  }
  // Which key byte `byte` of the 16 of a column is: a lane's weights come from the product before,
  // two keys of 8 at a time.
  static constexpr int KeyOf(int column, int byte) {
    const int lane = byte / 4, pair = byte % 4 / 2;
    return 32 * (column / 2) + 8 * (2 * (column % 2) + pair) + 2 * lane + byte % 2;
  }
  static constexpr int ValueVector(int column, int row) {
    return kValues + column * kValueStep + row / 8 * kMatrix + row % 8 * 16;
  }
};

// Behind keys and values: 2^ke, or the worth of a code; and ve.
struct TileFactors {
  float key_factor;
  float value_exponent;
};

// The queries that share a block of threads, and in sm90_routed the choice of tiles.
constexpr int QueriesOfBlock(int64_t width) { return width == 128 ? 128 : 192; }

constexpr int64_t KeyTiles(int64_t keys) { return (keys + kTileKeys - 1) / kTileKeys; }
constexpr int64_t KeyTileBytes(int64_t width) {
  return width == 128 ? KeyTile<128>::kBytes : KeyTile<64>::kBytes;
}

}  // namespace reel::kernels
