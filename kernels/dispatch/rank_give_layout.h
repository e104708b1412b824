// SPDX-License-Identifier: Apache-2.0
// Note: [Ranks write to each other]
// Each rank of a group has a part of the tokens and needs the keys and values of all. One kernel of
// each rank writes its own to the memory of all ranks, signals each, and ends when all others have
// signalled it. It is ordered on one device like any other kernel, so a recorded graph can contain
// it. Copies between devices are ordered on both, and a graph of one device cannot contain them.
// Launching three copies 28 times took the host 10 to 25 ms, for a step of 12 ms on four H100.
//
// Only one thread waits, after all other blocks have ended: ranks may even share a device, and no
// device is kept from work that others wait for. Counters exist for each pair, so that ranks may
// also exchange in halves. Memory is reused two exchanges later: its reader has given once more by
// then, so it has finished reading.
//
// A rank that fails never gives, so waiting ends when the group is given up. Results are then void,
// and counters start again.
#pragma once

#include <cstdint>

namespace reel::kernels {

inline constexpr int32_t kMostGivers = 4;
// For the sizes of a token's keys and values, and for their addresses.
inline constexpr int32_t kGivenAlignment = 16;

// Plain C layout. One exchange of one rank; addresses are of memory that its device can reach.
struct RankGive {
  // Keys and values [rows, tokens] of `token_bytes` each; strides in bytes.
  const void* from[2];
  int64_t from_row[2], from_token[2];
  int64_t rows, tokens, token_bytes;
  // The address of this rank's first token at each rank, its own included: a token's keys, its
  // values, then the next token.
  void* to[kMostGivers];
  int64_t to_row;
  int32_t ranks;  // in the exchange
  // At each rank: the counter of how often this rank has given to it; null: this rank.
  uint32_t* told[kMostGivers];
  // In this rank's memory, for each rank: how often it has given, and how often this one has.
  uint32_t *heard[kMostGivers], *given[kMostGivers];
  uint32_t* done;            // this rank's memory: blocks, zero between exchanges
  const uint32_t* given_up;  // the host's memory: not zero ends all waiting
};

}  // namespace reel::kernels
