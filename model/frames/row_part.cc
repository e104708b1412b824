// SPDX-License-Identifier: Apache-2.0
#include "model/frames/row_part.h"

#include <algorithm>
#include <vector>

namespace reel::model {
namespace {

// The current memory order of frames.
at::MemoryFormat MemoryOf(const at::Tensor& frames) {
  constexpr auto kSideBySide = at::MemoryFormat::ChannelsLast3d;
  return frames.is_contiguous(kSideBySide) ? kSideBySide : at::MemoryFormat::Contiguous;
}

// Rows within frames are strided, and libtorch copies those element by element: if a pixel's
// channels are contiguous, the copy uses elements of 16 bytes.
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

// A neighbour's row; zeros if there is none.
void CopyEdge(const at::Tensor& to, const at::Tensor& theirs) {
  if (theirs.defined()) {
    CopyRows(to, theirs);
  } else {
    to.zero_();
  }
}

}  // namespace

RowPart RowPart::Of(RankCrew& crew, int rank, int64_t all) {
  const int64_t even = all / crew.size(), longer = all % crew.size();
  return {crew, rank, rank * even + std::min<int64_t>(rank, longer), even + (rank < longer ? 1 : 0),
          all};
}

at::Tensor RowPart::Own(const at::Tensor& x, int64_t scale) const {
  return x.slice(kRowsDimension, first * scale, (first + count) * scale);
}

at::Tensor RowPart::WithEdges(const at::Tensor& frames, Beyond beyond) const {
  const int64_t rows = frames.size(kRowsDimension);
  const at::MemoryFormat memory = MemoryOf(frames);
  const bool has_above = first > 0, has_below = first + count < all;
  const auto row = [&frames](int64_t i) { return frames.slice(kRowsDimension, i, i + 1); };
  // Sends to both before receiving, or ranks would wait for each other in turn.
  if (has_above) crew.Give(rank, rank - 1, row(0).clone(memory));
  if (has_below) crew.Give(rank, rank + 1, row(rows - 1).clone(memory));
  const at::Tensor above = has_above ? crew.Take(rank, rank - 1) : at::Tensor();
  const at::Tensor below = has_below ? crew.Take(rank, rank + 1) : at::Tensor();
  std::vector<int64_t> sizes = frames.sizes().vec();
  sizes[kRowsDimension] = rows + 2;
  const at::Tensor whole = at::empty(sizes, frames.options(), memory);
  CopyRows(whole.slice(kRowsDimension, 1, rows + 1), frames);
  // Of a rank with one row alone, the row next to it is the neighbour's.
  const auto outside = [&](int64_t next, const at::Tensor& neighbours) {
    if (beyond == Beyond::kZeros) return at::Tensor();
    return rows > 1 ? row(next) : neighbours;
  };
  CopyEdge(whole.slice(kRowsDimension, 0, 1), has_above ? above : outside(1, below));
  CopyEdge(whole.slice(kRowsDimension, rows + 1), has_below ? below : outside(rows - 2, above));
  return whole;
}

}  // namespace reel::model
