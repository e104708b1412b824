// SPDX-License-Identifier: Apache-2.0
// Note: [Ranks write to each other]
// Ranks of a group have parts of the tokens, and need the keys and values of all. One kernel of
// each rank writes its own to the memory of all of them, tells each that they are there, and ends
// when all others have told it the same. It stands in its device's order like any other kernel, so
// a recorded graph can hold it: copies between devices stand in the order of both, and a graph of
// one device cannot. Asking 28 times for three copies took a host 10 to 25 ms, for the four H100
// of a step of 12.
//
// Who waits is one thread, when all other blocks are done: ranks may even be on one device, and no
// device is kept from the work that others wait for. What is counted is counted for each pair, so
// that ranks may also exchange in halves. Memory is written again two exchanges later: then its
// reader has given once more since, so it is done with it.
//
// A rank that fails never gives, so waiting ends when the group is given up; what was made then is
// void, and counters start anew.
#pragma once

#include <cstdint>

namespace reel::kernels {

inline constexpr int32_t kMostGivers = 4;
// Of a token's keys, of their addresses, and of its values.
inline constexpr int32_t kGivenAlignment = 16;

// Plain C layout. One exchange of one rank; addresses are of memory that its device can reach.
struct RankGive {
  // Keys and values [rows, tokens] of `token_bytes` each; strides in bytes.
  const void* from[2];
  int64_t from_row[2], from_token[2];
  int64_t rows, tokens, token_bytes;
  // Where the first of this rank's tokens goes at each rank, its own among them: a token's values
  // behind its keys, the next token behind them.
  void* to[kMostGivers];
  int64_t to_row;
  int32_t ranks;  // that exchange
  // Of each: where it is told how often this rank has given to it; null: this rank.
  uint32_t* told[kMostGivers];
  // This rank's memory, of each: how often that one has given, and how often this one has to it.
  uint32_t *heard[kMostGivers], *given[kMostGivers];
  uint32_t* done;            // this rank's memory: blocks, zero between exchanges
  const uint32_t* given_up;  // the host's memory: not zero once nobody shall wait
};

}  // namespace reel::kernels
