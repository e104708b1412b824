// SPDX-License-Identifier: Apache-2.0
// Divides the tokens of a row between the ranks of a group, and exchanges their keys and values.
// A block computes every token alone, but for self-attention: a rank's queries meet all keys.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "model/bridge/rank_crew.h"

namespace reel::model {

// Neighbours, from `first` on.
struct TokenRange {
  int64_t first = 0, count = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// Neighbouring rows of a call, from `first` on.
struct RowRange {
  int64_t first = 0, count = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

// A rank's share in a call; by default one rank has all tokens. Borrows `crew` and `link`.
struct RankTokens {
  struct KeysAndValues {
    at::Tensor k, v;
  };

  RankCrew* crew = nullptr;
  int rank = 0;
  int first_rank = 0, ranks = 1;  // neighbours that divide the tokens
  int64_t all = 0;                // tokens
  RankLink* link = nullptr;       // null: ranks exchange by copies

  // For every rank of the crew: all ranks divide the tokens, or those of each half. At most `most`
  // ranks divide them, and no more than there are tokens; the last ranks then have none.
  static std::vector<RankTokens> OfCrew(RankCrew& crew, bool in_halves, int64_t all,
                                        int64_t most = std::numeric_limits<int64_t>::max());

  // As even as possible.
  TokenRange Of(int of_rank) const;
  TokenRange own() const { return Of(rank); }
  bool is_divided() const { return ranks > 1; }

  // This rank's tokens of x [B, S, ...], contiguous; x may be undefined.
  at::Tensor Own(const at::Tensor& x) const;
  // From keys and values [B, own, D] of this rank's tokens to those of all ranks, [B, S, D]: views.
  // `number` counts the exchanges of the call. Every rank that has tokens makes the same exchanges
  // in the same order, within RankCrew::Run.
  KeysAndValues OfAll(const at::Tensor& k, const at::Tensor& v, int64_t number) const;
  // The same without the link, for which alone exchanges are counted.
  KeysAndValues OfAllByCopies(const at::Tensor& k, const at::Tensor& v) const;
};

}  // namespace reel::model
