// SPDX-License-Identifier: Apache-2.0
// Pictures whose rows the ranks of a group decode, each those from one to another. A layer needs
// one row of each neighbour's for each convolution, and nothing else: norms are of one pixel. So
// the halo is exact.
#pragma once

#include <cstdint>

#include "model/bridge/rank_crew.h"

namespace reel::model {

constexpr int64_t kRowsDimension = 3;  // of [batch, channels, frames, rows, columns]

// A rank's part of the rows, counted in latents; `crew` is borrowed.
struct RowPart {
  RankCrew& crew;
  int rank = 0;
  int64_t first = 0, count = 0, all = 0;

  // Of `all` rows of latents, as evenly as can be, the first ranks the longer parts; of fewer rows
  // than ranks the last ones have none.
  static RowPart Of(RankCrew& crew, int rank, int64_t all);

  // x [B, C, F, H, W] of `scale` rows for each latent: this rank's.
  at::Tensor Own(const at::Tensor& x, int64_t scale) const;
  // Frames of this rank's rows, at least one, with one more row above and below: the neighbours',
  // and zeros beyond the picture. Every rank that has rows asks as often, in the same order; within
  // RankCrew::Run.
  at::Tensor WithEdges(const at::Tensor& frames) const;
};

}  // namespace reel::model
