// SPDX-License-Identifier: Apache-2.0
#include "model/vae/window_chain.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/vae/window_attention.h"

namespace reel::model {
namespace {

// Beyond the reach of any window.
constexpr int64_t kManyFrames = std::numeric_limits<int64_t>::max() / 2;

void Append(at::Tensor& rows, const at::Tensor& more) {
  rows = rows.defined() ? at::cat({rows, more}) : more;
}

// A view would keep the memory of what is dropped.
void DropFirst(at::Tensor& rows, int64_t frames) {
  if (frames > 0) rows = rows.slice(0, frames).clone();
}

class BlockFrames final : public FrameSource {
 public:
  BlockFrames(FrameSourcePtr input, const WindowBlock& block, PictureBlock picture)
      : input_(std::move(input)), block_(block), picture_(std::move(picture)) {}

  Frames Next(const Ops& ops) override {
    for (;;) {
      const Frames piece = input_->Next(ops);
      if (piece.none()) return {};
      Take(ops, RowsOfFrames(piece.x).contiguous());
      const int64_t count = Ready(piece.last);
      if (count > 0) return {FramesOfRows(Make(ops, count, piece.last)), piece.last};
    }
  }

 private:
  // Rows that come in, with their queries, keys and values.
  void Take(const Ops& ops, at::Tensor x) {
    const int64_t frames = x.size(0);
    if (picture_.from_context != nullptr) {
      x = x + (*picture_.from_context)(ops, picture_.context->Of(taken_, frames));
      if (picture_.drops_context) picture_.context->DropBefore(taken_ + frames);
    }
    const WindowHeads heads = block_.Heads(ops, x, taken_, picture_.by);
    Append(x_, x);
    Append(q_, heads.q);
    Append(k_, heads.k);
    Append(v_, heads.v);
    taken_ += frames;
  }

  // How many frames have all of their windows.
  int64_t Ready(bool is_last) const {
    const int64_t window = block_.window[0];
    if (is_last) return taken_ - made_;
    return taken_ < window ? 0 : std::max<int64_t>(taken_ - window + window / 2 + 1 - made_, 0);
  }

  // The next `count` frames behind the block.
  at::Tensor Make(const Ops& ops, int64_t count, bool is_last) {
    const WindowAxis frames = {.window = block_.window[0],
                               .all = is_last ? taken_ : kManyFrames,
                               .first_query = made_,
                               .queries = count,
                               .first_key = taken_ - k_.size(0),
                               .keys = k_.size(0)};
    const at::Tensor attended =
        WindowAttention(ops, q_.slice(0, 0, count), k_, v_,
                        {frames, WindowAxis::Whole(block_.window[1], q_.size(1)),
                         WindowAxis::Whole(block_.window[2], q_.size(2))});
    const at::Tensor x = x_.slice(0, 0, count);
    const at::Tensor out = block_.Finish(ops, x, attended, picture_.by);
    made_ += count;
    DropFirst(x_, count);
    DropFirst(q_, count);
    // A window that is moved inside at the clip's end begins no earlier.
    const int64_t unneeded = k_.size(0) - block_.window[0];
    DropFirst(k_, unneeded);
    DropFirst(v_, unneeded);
    return out;
  }

  const FrameSourcePtr input_;
  const WindowBlock& block_;
  const PictureBlock picture_;
  at::Tensor x_, q_;  // of frames that are not made yet
  at::Tensor k_, v_;
  int64_t taken_ = 0, made_ = 0;  // frames
};

class RepeatLast final : public FrameSource {
 public:
  RepeatLast(FrameSourcePtr input, int64_t count) : input_(std::move(input)), count_(count) {}

  Frames Next(const Ops& ops) override {
    Frames frames = input_->Next(ops);
    if (frames.none() || !frames.last) return frames;
    const at::Tensor last = frames.x.slice(2, frames.x.size(2) - 1);
    frames.x = at::cat({frames.x, last.expand({-1, -1, count_, -1, -1})}, 2);
    return frames;
  }

 private:
  const FrameSourcePtr input_;
  const int64_t count_;
};

class AllButLast final : public FrameSource {
 public:
  AllButLast(FrameSourcePtr input, int64_t count) : input_(std::move(input)), count_(count) {}

  Frames Next(const Ops& ops) override {
    for (;;) {
      Frames frames = input_->Next(ops);
      if (frames.none()) return frames;
      const at::Tensor all = held_.defined() ? at::cat({held_, frames.x}, 2) : frames.x;
      const int64_t ready = std::max<int64_t>(all.size(2) - count_, 0);
      held_ = all.slice(2, ready).clone();
      if (ready == 0 && !frames.last) continue;
      frames.x = all.slice(2, 0, ready);
      return frames;
    }
  }

 private:
  const FrameSourcePtr input_;
  const int64_t count_;
  at::Tensor held_;
};

}  // namespace

void ContextRows::Add(const at::Tensor& rows) { Append(rows_, rows); }

at::Tensor ContextRows::Of(int64_t first, int64_t frames) const {
  return rows_.narrow(0, first - first_, frames);
}

void ContextRows::DropBefore(int64_t frame) {
  DropFirst(rows_, frame - first_);
  first_ = frame;
}

FrameSourcePtr WindowBlockSource(FrameSourcePtr input, const WindowBlock& block,
                                 PictureBlock picture) {
  return std::make_unique<BlockFrames>(std::move(input), block, std::move(picture));
}

FrameSourcePtr RepeatLastSource(FrameSourcePtr input, int64_t count) {
  if (count == 0) return input;
  return std::make_unique<RepeatLast>(std::move(input), count);
}

FrameSourcePtr WithoutLast(FrameSourcePtr input, int64_t count) {
  if (count == 0) return input;
  return std::make_unique<AllButLast>(std::move(input), count);
}

}  // namespace reel::model
