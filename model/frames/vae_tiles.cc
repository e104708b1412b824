// SPDX-License-Identifier: Apache-2.0
#include "model/frames/vae_tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace reel::model {
namespace {

constexpr int64_t kTimeAxis = 2, kRowAxis = 3, kColumnAxis = 4;

// Scales `x` in fp32 and rounds to its own type, as a scalar factor does.
at::Tensor Times(const at::Tensor& x, const at::Tensor& factors) {
  return (x.to(at::kFloat) * factors).to(x.scalar_type());
}

// Blends the first slices of `b` along `dim` in place, from the last ones of `a`.
void Blend(const at::Tensor& a, const at::Tensor& b, int64_t extent, int64_t dim) {
  extent = std::min({a.size(dim), b.size(dim), extent});
  if (extent == 0) return;
  std::vector<int64_t> shape(static_cast<size_t>(b.dim()), 1);
  shape[static_cast<size_t>(dim)] = extent;
  const at::Tensor step = at::arange(extent, at::TensorOptions(at::kDouble)) / extent;
  const auto ramp = [&](const at::Tensor& values) {
    return values.to(at::kFloat).view(shape).to(b.device());
  };
  at::Tensor place = b.slice(dim, 0, extent);
  place.copy_(Times(a.slice(dim, a.size(dim) - extent), ramp(1 - step)) + Times(place, ramp(step)));
}

using TileGrid = std::vector<std::vector<at::Tensor>>;  // rows of tiles

// Each tile is blended with the blended tiles above and left of it; its first `keep` rows and
// columns are kept.
at::Tensor Join(const TileGrid& tiles, int64_t blend, int64_t keep) {
  std::vector<at::Tensor> rows;
  for (size_t i = 0; i < tiles.size(); ++i) {
    std::vector<at::Tensor> row;
    for (size_t j = 0; j < tiles[i].size(); ++j) {
      const at::Tensor& tile = tiles[i][j];
      if (i > 0) Blend(tiles[i - 1][j], tile, blend, kRowAxis);
      if (j > 0) Blend(tiles[i][j - 1], tile, blend, kColumnAxis);
      row.push_back(tile.slice(kRowAxis, 0, keep).slice(kColumnAxis, 0, keep));
    }
    rows.push_back(at::cat(row, kColumnAxis));
  }
  return at::cat(rows, kRowAxis);
}

template <typename Visit>
void ForEachTile(const at::Tensor& x, int64_t size, int64_t stride, Visit&& visit) {
  for (int64_t i = 0; i < x.size(kRowAxis); i += stride) {
    for (int64_t j = 0; j < x.size(kColumnAxis); j += stride) {
      visit(j == 0, x.slice(kRowAxis, i, i + size).slice(kColumnAxis, j, j + size));
    }
  }
}

bool IsWider(const at::Tensor& x, int64_t size) {
  return x.size(kRowAxis) > size || x.size(kColumnAxis) > size;
}

// A chain for each tile; they run in step, so that only a few frames of each are held.
class SpaceTiled : public FrameSource {
 public:
  SpaceTiled(Tiles tiles, int64_t compression, const Ops& ops, const at::Tensor& latents,
             const DecodeWhole& decode)
      : tiles_(tiles),
        height_(latents.size(kRowAxis) * compression),
        width_(latents.size(kColumnAxis) * compression) {
    ForEachTile(latents, tiles.size / compression, tiles.stride / compression,
                [&](bool begins_row, const at::Tensor& tile) {
                  if (begins_row) rows_.emplace_back();
                  rows_.back().push_back(decode(ops, tile));
                });
  }

  Frames Next(const Ops& ops) override {
    TileGrid grid;
    bool last = false;
    for (const auto& row : rows_) {
      grid.emplace_back();
      for (const FrameSourcePtr& tile : row) {
        const Frames frames = tile->Next(ops);
        grid.back().push_back(frames.x.contiguous());
        last = frames.last;
      }
    }
    const at::Tensor x = Join(grid, tiles_.size - tiles_.stride, tiles_.stride);
    return {x.slice(kRowAxis, 0, height_).slice(kColumnAxis, 0, width_), last};
  }

 private:
  const Tiles tiles_;
  const int64_t height_, width_;
  std::vector<std::vector<FrameSourcePtr>> rows_;
};

at::Tensor AllFrames(const Ops& ops, FrameSource& source) {
  std::vector<at::Tensor> pieces;
  for (bool last = false; !last;) {
    Frames frames = source.Next(ops);
    pieces.push_back(std::move(frames.x));
    last = frames.last;
  }
  return at::cat(pieces, kTimeAxis);
}

// One tile of frames at a time, and the previous one for blending.
class FrameTiled : public FrameSource {
 public:
  FrameTiled(Tiles tiles, int64_t compression, at::Tensor latents, DecodeWhole decode)
      : tiles_(tiles),
        size_(tiles.size / compression + 1),
        stride_(tiles.stride / compression),
        left_((latents.size(kTimeAxis) - 1) * compression + 1),
        latents_(std::move(latents)),
        decode_(std::move(decode)) {}

  Frames Next(const Ops& ops) override {
    at::Tensor tile =
        AllFrames(ops, *decode_(ops, latents_.slice(kTimeAxis, next_, next_ + size_)));
    int64_t keep = tiles_.stride + 1;
    if (before_.defined()) {
      tile = tile.slice(kTimeAxis, 0, tile.size(kTimeAxis) - 1).clone();
      Blend(before_, tile, tiles_.size - tiles_.stride, kTimeAxis);
      keep = tiles_.stride;
    }
    before_ = tile;
    next_ += stride_;
    const at::Tensor frames = tile.slice(kTimeAxis, 0, std::min(keep, left_));
    left_ -= frames.size(kTimeAxis);
    return {frames, left_ == 0};
  }

 private:
  const Tiles tiles_;
  const int64_t size_, stride_;
  int64_t left_;  // frames of the clip
  const at::Tensor latents_;
  const DecodeWhole decode_;
  at::Tensor before_;
  int64_t next_ = 0;
};

}  // namespace

FrameSourcePtr DecodeInTiles(const VaeTiling& tiling, Compression by, const Ops& ops,
                             const at::Tensor& latents, DecodeWhole decode) {
  const int64_t side = by.space, time = by.time;
  if (tiling.space.has_value() && IsWider(latents, tiling.space->size / side)) {
    decode = [tiles = *tiling.space, side, decode](const Ops& own,
                                                   const at::Tensor& part) -> FrameSourcePtr {
      return std::make_unique<SpaceTiled>(tiles, side, own, part, decode);
    };
  }
  if (tiling.frames.has_value() && latents.size(kTimeAxis) > tiling.frames->size / time) {
    return std::make_unique<FrameTiled>(*tiling.frames, time, latents, std::move(decode));
  }
  return decode(ops, latents);
}

at::Tensor EncodeInTiles(const VaeTiling& tiling, Compression by, const at::Tensor& pixels,
                         const EncodeWhole& encode) {
  const int64_t side = by.space, time = by.time;
  const auto encode_part = [&](const at::Tensor& part) {
    if (!tiling.space.has_value() || !IsWider(part, tiling.space->size)) return encode(part);
    const Tiles& tiles = *tiling.space;
    TileGrid grid;
    ForEachTile(part, tiles.size, tiles.stride, [&](bool begins_row, const at::Tensor& tile) {
      if (begins_row) grid.emplace_back();
      grid.back().push_back(encode(tile).contiguous());
    });
    return Join(grid, (tiles.size - tiles.stride) / side, tiles.stride / side)
        .slice(kRowAxis, 0, part.size(kRowAxis) / side)
        .slice(kColumnAxis, 0, part.size(kColumnAxis) / side);
  };
  if (!tiling.frames.has_value() || pixels.size(kTimeAxis) <= tiling.frames->size) {
    return encode_part(pixels);
  }
  const Tiles& tiles = *tiling.frames;
  std::vector<at::Tensor> kept;
  at::Tensor before;
  for (int64_t i = 0; i < pixels.size(kTimeAxis); i += tiles.stride) {
    at::Tensor tile = encode_part(pixels.slice(kTimeAxis, i, i + tiles.size + 1));
    int64_t keep = tiles.stride / time;
    if (i == 0) {
      ++keep;
    } else {
      tile = tile.slice(kTimeAxis, 1).clone();
      Blend(before, tile, (tiles.size - tiles.stride) / time, kTimeAxis);
    }
    before = tile;
    kept.push_back(tile.slice(kTimeAxis, 0, keep));
  }
  return at::cat(kept, kTimeAxis).slice(kTimeAxis, 0, (pixels.size(kTimeAxis) - 1) / time + 1);
}

}  // namespace reel::model
