// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/row_part.h"

#include "model/ltx/vae_layers.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kRows = 3;  // the dimension

}  // namespace

RowPart RowPart::Of(RankCrew& crew, int rank, int64_t all) {
  const int64_t upper = (all + 1) / 2;
  return {crew, rank, rank == 0 ? 0 : upper, rank == 0 ? upper : all - upper, all};
}

at::Tensor RowPart::Own(const at::Tensor& x, int64_t scale) const {
  return x.slice(kRows, first * scale, (first + count) * scale);
}

at::Tensor RowPart::WithEdges(const at::Tensor& frames) const {
  const int64_t rows = frames.size(kRows);
  const bool is_upper = rank == 0;
  const int64_t edge = is_upper ? rows - 1 : 0;
  const at::Tensor theirs =
      crew.Swap(rank, frames.slice(kRows, edge, edge + 1).clone(FrameMemory(frames)));
  std::vector<int64_t> sizes = frames.sizes().vec();
  sizes[kRows] = rows + 2;
  const at::Tensor whole = at::empty(sizes, frames.options(), FrameMemory(frames));
  whole.slice(kRows, 1, rows + 1).copy_(frames);
  whole.slice(kRows, 0, 1).copy_(is_upper ? at::zeros_like(theirs) : theirs);
  whole.slice(kRows, rows + 1).copy_(is_upper ? theirs : at::zeros_like(theirs));
  return whole;
}

}  // namespace reel::model::ltx
