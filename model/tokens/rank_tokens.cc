// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/rank_tokens.h"

#include <algorithm>

namespace reel::model {
namespace {

constexpr int64_t kTokens = 1;  // the dimension

// One row at a time is contiguous: libtorch copies other tensors between devices in two steps.
at::Tensor RowOf(const at::Tensor& x, int64_t row, const TokenRange& tokens) {
  return x.select(0, row).slice(0, tokens.first, tokens.first + tokens.count);
}

}  // namespace

std::vector<RankTokens> RankTokens::OfCrew(RankCrew& crew, bool in_halves, int64_t all,
                                           int64_t most) {
  const int there = in_halves ? crew.size() / 2 : crew.size();
  const int ranks = static_cast<int>(std::clamp<int64_t>(std::min(all, most), 1, there));
  std::vector<RankTokens> parts;
  for (int rank = 0; rank < crew.size(); ++rank) {
    parts.push_back({&crew, rank, rank / there * there, ranks, all});
  }
  return parts;
}

TokenRange RankTokens::Of(int of_rank) const {
  const int place = std::min(of_rank - first_rank, ranks);
  const int64_t first = all * place / ranks;
  return {first, place == ranks ? 0 : all * (place + 1) / ranks - first};
}

at::Tensor RankTokens::Own(const at::Tensor& x) const {
  if (!x.defined() || !is_divided()) return x;
  const TokenRange tokens = own();
  return x.slice(kTokens, tokens.first, tokens.first + tokens.count).contiguous();
}

// Keys and values of a token are neighbours, so that one copy to each other rank moves both.
// Starting a copy waits for both devices, which costs a small video noticeable time. This rank's go
// to their position among all, and from there to the others.
RankTokens::KeysAndValues RankTokens::OfAllByCopies(const at::Tensor& k,
                                                    const at::Tensor& v) const {
  const TokenRange tokens = own();
  const int64_t rows = k.size(0);
  const at::Tensor whole = at::empty({rows, all, 2, k.size(2)}, k.options());
  const at::Tensor mine = whole.slice(kTokens, tokens.first, tokens.first + tokens.count);
  mine.select(2, 0).copy_(k);
  mine.select(2, 1).copy_(v);
  // Each rank starts with its neighbour: no rank serves all others at once.
  const auto other = [this](int i) { return first_rank + (rank - first_rank + i) % ranks; };
  for (int i = 1; i < ranks; ++i) {
    for (int64_t row = 0; row < rows; ++row) crew->Give(rank, other(i), RowOf(whole, row, tokens));
  }
  for (int i = 1; i < ranks; ++i) {
    const int from = other(i);
    for (int64_t row = 0; row < rows; ++row) {
      crew->TakeInto(rank, from, RowOf(whole, row, Of(from)));
    }
  }
  return {whole.select(2, 0), whole.select(2, 1)};
}

RankTokens::KeysAndValues RankTokens::OfAll(const at::Tensor& k, const at::Tensor& v,
                                            int64_t number) const {
  if (link == nullptr) return OfAllByCopies(k, v);
  const at::Tensor whole = link->OfAll({rank, first_rank, ranks, number, own().first, all}, k, v);
  return {whole.select(2, 0), whole.select(2, 1)};
}

}  // namespace reel::model
