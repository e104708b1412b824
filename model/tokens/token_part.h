// SPDX-License-Identifier: Apache-2.0
// Tokens that ranks of a group divide between them. All that a block does is of one token but
// self-attention, whose queries are a rank's own, and whose keys and values are those of all.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "model/bridge/rank_crew.h"

namespace reel::model {

// Those side by side from `first` on.
struct TokenRange {
  int64_t first = 0, count = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// What a rank has of them in a call; `crew` and `link` are borrowed.
struct TokenPart {
  struct KeysAndValues {
    at::Tensor k, v;
  };

  RankCrew& crew;
  int rank = 0;
  int first_rank = 0, ranks = 1;  // those that divide them, side by side
  int64_t all = 0;                // tokens
  RankLink* link = nullptr;       // by which they exchange; null: by copies
  int64_t exchanges = 0;          // of the call so far

  // Of every rank of the crew: its ranks divide the tokens, or those of each half of them do. Where
  // there are fewer tokens than ranks, or at most `most` of them, the last ranks have none.
  static std::vector<TokenPart> OfCrew(RankCrew& crew, bool in_halves, int64_t all,
                                       int64_t most = std::numeric_limits<int64_t>::max());

  // As even as they can be.
  TokenRange Of(int of_rank) const;
  TokenRange own() const { return Of(rank); }
  bool is_divided() const { return ranks > 1; }

  // Of x [B, S, ...] of all tokens this rank's, side by side in memory; x may be undefined.
  at::Tensor Own(const at::Tensor& x) const;
  // Of keys and values [B, own, D] of this rank's tokens to those of all, [B, S, D]: views. Every
  // rank that has tokens asks as often, in the same order; within RankCrew::Run.
  KeysAndValues OfAll(const at::Tensor& k, const at::Tensor& v);

 private:
  at::Tensor OfAllByCopies(const at::Tensor& k, const at::Tensor& v) const;
};

}  // namespace reel::model
