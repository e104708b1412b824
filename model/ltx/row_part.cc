// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/row_part.h"

#include <vector>

namespace reel::model::ltx {
namespace {

constexpr int64_t kRows = 3;  // the dimension

// How frames lie in memory, as they are.
at::MemoryFormat MemoryOf(const at::Tensor& frames) {
  constexpr auto kSideBySide = at::MemoryFormat::ChannelsLast3d;
  return frames.is_contiguous(kSideBySide) ? kSideBySide : at::MemoryFormat::Contiguous;
}

// Rows within frames are strided, and libtorch copies such element by element: where the channels
// of a pixel lie side by side it is told of elements of 16 bytes.
void CopyRows(const at::Tensor& to, const at::Tensor& from) {
  constexpr int64_t kWide = 16;
  const bool wide = to.stride(1) == 1 && from.stride(1) == 1 && to.dtype() == from.dtype() &&
                    to.size(1) * to.element_size() % kWide == 0;
  if (!wide) {
    to.copy_(from);
    return;
  }
  const auto pixels = [](const at::Tensor& x) { return x.movedim(1, -1).view(at::kComplexDouble); };
  pixels(to).copy_(pixels(from));
}

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
  const at::MemoryFormat memory = MemoryOf(frames);
  const int other = is_upper ? 1 : 0;
  crew.Give(rank, other, frames.slice(kRows, edge, edge + 1).clone(memory));
  const at::Tensor theirs = crew.Take(rank, other);
  std::vector<int64_t> sizes = frames.sizes().vec();
  sizes[kRows] = rows + 2;
  const at::Tensor whole = at::empty(sizes, frames.options(), memory);
  CopyRows(whole.slice(kRows, 1, rows + 1), frames);
  const at::Tensor above = whole.slice(kRows, 0, 1), below = whole.slice(kRows, rows + 1);
  CopyRows(is_upper ? below : above, theirs);
  (is_upper ? above : below).zero_();
  return whole;
}

}  // namespace reel::model::ltx
