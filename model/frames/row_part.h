// SPDX-License-Identifier: Apache-2.0
// A rank's rows of pictures that a group decodes together. A layer needs one row of each neighbour
// for each convolution, and nothing else, since norms are per pixel; so the result is exact.
#pragma once

#include <cstdint>

#include "model/bridge/rank_crew.h"

namespace reel::model {

constexpr int64_t kRowsDimension = 3;  // of [batch, channels, frames, rows, columns]

// A rank's part of the rows, in latents; borrows `crew`.
struct RowPart {
  RankCrew& crew;
  int rank = 0;
  int64_t first = 0, count = 0, all = 0;

  // Divides `all` rows of latents as evenly as possible, longer parts first; with fewer rows than
  // ranks the last ones have none.
  static RowPart Of(RankCrew& crew, int rank, int64_t all);

  // This rank's rows of x [B, C, F, H, W], which has `scale` rows for each latent.
  at::Tensor Own(const at::Tensor& x, int64_t scale) const;
  // Stands in for the row beyond the picture's edge: zeros, or the row next to the edge row, for
  // which the picture needs two rows.
  enum class Beyond { kZeros, kReflected };

  // Frames of this rank's rows, at least one, with the neighbours' row above and below, or `beyond`
  // at the picture's edge. Every rank with rows makes the same calls in the same order, within
  // RankCrew::Run.
  at::Tensor WithEdges(const at::Tensor& frames, Beyond beyond = Beyond::kZeros) const;
};

}  // namespace reel::model
