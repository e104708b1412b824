// SPDX-License-Identifier: Apache-2.0
#include "model/frames/frame_chain.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace reel::model {
namespace {

// Allocates `frames` frames like x.
at::Tensor RoomFor(const at::Tensor& x, int64_t frames) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[2] = frames;
  return at::empty(sizes, x.options(), kFrameMemory);
}

class Latents : public FrameSource {
 public:
  Latents(at::Tensor latents, int64_t piece) : latents_(std::move(latents)), piece_(piece) {}

  Frames Next(const Ops&) override {
    const int64_t end = std::min(next_ + piece_, latents_.size(2));
    const int64_t begin = std::exchange(next_, end);
    return {latents_.slice(2, begin, end), end == latents_.size(2)};
  }

 private:
  const at::Tensor latents_;
  const int64_t piece_;
  int64_t next_ = 0;
};

// Passes frames on, at most so many at a time.
class Slices : public FrameSource {
 public:
  Slices(FrameSourcePtr input, int64_t frames) : input_(std::move(input)), frames_(frames) {}

  Frames Next(const Ops& ops) override {
    if (begin_ == end_) {
      piece_ = input_->Next(ops);
      if (piece_.none()) return {};
      begin_ = 0;
      end_ = piece_.x.size(2);
    }
    // Equal pieces: a short last one would be slow on a GPU.
    const int64_t count = (end_ - begin_ + frames_ - 1) / frames_;
    const int64_t begin = std::exchange(begin_, begin_ + (end_ - begin_ + count - 1) / count);
    const auto cut = [&](const at::Tensor& x) {
      return x.defined() ? x.slice(2, begin, begin_) : x;
    };
    const Frames slice = {cut(piece_.x), piece_.last && begin_ == end_, cut(piece_.residual),
                          piece_.bias};
    if (begin_ == end_) piece_ = {};
    return slice;
  }

 private:
  FrameSourcePtr input_;
  const int64_t frames_;
  Frames piece_;
  int64_t begin_ = 0, end_ = 0;
};

class TimeConv : public FrameSource {
 public:
  TimeConv(FrameSourcePtr input, ConvolveFrames convolve, WritePiece write)
      : input_(std::move(input)), convolve_(std::move(convolve)), write_(std::move(write)) {}

  Frames Next(const Ops& ops) override {
    for (;;) {
      const Frames piece = input_->Next(ops);
      if (piece.none()) return {};
      // The first frame is repeated before the clip, the last one after it.
      const int64_t kept = kept_.defined() ? kLookBack : 0;
      const PaddedFrames ends = {{}, kept == 0 ? 1 : 0, piece.last ? 1 : 0};
      const at::Tensor window = RoomFor(piece.x, kept + ends.front + piece.x.size(2) + ends.back);
      if (kept > 0) window.slice(2, 0, kept).copy_(kept_);
      write_(ops, piece, {window.slice(2, kept), ends.front, ends.back});
      // A view would keep the whole piece.
      if (!piece.last) kept_ = window.slice(2, window.size(2) - kLookBack).clone();
      if (window.size(2) == kLookBack) continue;
      const FrameSum made = convolve_(ops, window);
      return {made.x, piece.last, {}, made.bias};
    }
  }

 private:
  static constexpr int64_t kLookBack = 2;

  FrameSourcePtr input_;
  const ConvolveFrames convolve_;
  const WritePiece write_;
  at::Tensor kept_;  // needed by the next output
};

class Mapped : public FrameSource {
 public:
  Mapped(FrameSourcePtr input, MapFrames map) : input_(std::move(input)), map_(std::move(map)) {}

  Frames Next(const Ops& ops) override {
    const Frames piece = input_->Next(ops);
    return piece.none() ? piece : map_(ops, piece);
  }

 private:
  FrameSourcePtr input_;
  const MapFrames map_;
};

}  // namespace

FrameSourcePtr LatentSource(at::Tensor latents, int64_t piece) {
  return std::make_unique<Latents>(std::move(latents), piece);
}

FrameSourcePtr SliceSource(FrameSourcePtr input, int64_t frames) {
  return std::make_unique<Slices>(std::move(input), frames);
}

FrameSourcePtr MapSource(FrameSourcePtr input, MapFrames map) {
  return std::make_unique<Mapped>(std::move(input), std::move(map));
}

FrameSourcePtr TimeConvSource(FrameSourcePtr input, ConvolveFrames convolve, WritePiece write) {
  return std::make_unique<TimeConv>(std::move(input), std::move(convolve), std::move(write));
}

void WaitingFrames::Add(const at::Tensor& x) {
  if (frames_.defined()) {
    Room(x).copy_(x);
  } else {
    frames_ = x;
  }
}

at::Tensor WaitingFrames::Room(const at::Tensor& x) {
  const int64_t waiting = frames_.defined() ? frames_.size(2) : 0;
  const at::Tensor room = RoomFor(x, waiting + x.size(2));
  if (waiting > 0) room.slice(2, 0, waiting).copy_(frames_);
  frames_ = room;
  return room.slice(2, waiting);
}

at::Tensor WaitingFrames::Take(int64_t count) {
  const at::Tensor taken = frames_.slice(2, 0, count);
  frames_ = count == frames_.size(2) ? at::Tensor() : frames_.slice(2, count).clone();
  return taken;
}

}  // namespace reel::model
