// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/decode_chain.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace reel::model::ltx {
namespace {

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

// Passes frames on, no more than so many at a time.
class Slices : public FrameSource {
 public:
  Slices(FrameSourcePtr input, int64_t frames) : input_(std::move(input)), frames_(frames) {}

  Frames Next(const Ops& ops) override {
    if (begin_ == end_) {
      piece_ = input_->Next(ops);
      begin_ = 0;
      end_ = piece_.x.size(2);
    }
    // Equal ones: a last one of few frames would be slow work for a GPU.
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

// Room for frames like x, but so many.
at::Tensor RoomFor(const at::Tensor& x, int64_t frames) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[2] = frames;
  return at::empty(sizes, x.options(), kFrameMemory);
}

// Writes a piece's frames, and the copies at the clip's ends, to where the convolution reads them.
using WritePiece =
    std::function<void(const Ops& ops, const Frames& piece, const PaddedFrames& out)>;

// Hands out as many frames at a time as come in; at first one less, which comes with the last ones.
class Conv : public FrameSource {
 public:
  Conv(FrameSourcePtr input, const VideoConv& conv, const Part& part, WritePiece write)
      : input_(std::move(input)), conv_(conv), part_(part), write_(std::move(write)) {}

  Frames Next(const Ops& ops) override {
    for (;;) {
      const Frames piece = input_->Next(ops);
      // Before the clip stands its first frame, behind it its last.
      const int64_t kept = kept_.defined() ? kLookBack : 0;
      const PaddedFrames ends = {{}, kept == 0 ? 1 : 0, piece.last ? 1 : 0};
      const at::Tensor window = RoomFor(piece.x, kept + ends.front + piece.x.size(2) + ends.back);
      if (kept > 0) window.slice(2, 0, kept).copy_(kept_);
      write_(ops, piece, {window.slice(2, kept), ends.front, ends.back});
      // A view would keep the whole piece.
      if (!piece.last) kept_ = window.slice(2, window.size(2) - kLookBack).clone();
      if (window.size(2) == kLookBack) continue;
      const FrameSum made = Convolve(ops, window);
      return {made.x, piece.last, {}, made.bias};
    }
  }

 private:
  static constexpr int64_t kLookBack = 2;

  FrameSum Convolve(const Ops& ops, const at::Tensor& own) const {
    const at::Tensor window = part_.has_value() ? part_->WithEdges(own) : own;
    const auto edges = part_.has_value() ? VideoConv::Edges::kGiven : VideoConv::Edges::kZeros;
    return conv_.Unbiased(ops, window, edges);
  }

  FrameSourcePtr input_;
  const VideoConv& conv_;
  const Part part_;
  const WritePiece write_;
  at::Tensor kept_;  // that the next output looks back at
};

FrameSourcePtr Convolved(FrameSourcePtr input, const VideoConv& conv, const Part& part,
                         WritePiece write) {
  return std::make_unique<Conv>(std::move(input), conv, part, std::move(write));
}

// What was handed on and will be needed again, in order.
class Pending {
 public:
  void Add(const at::Tensor& x) {
    if (frames_.defined()) {
      Room(x).copy_(x);
    } else {
      frames_ = x;
    }
  }
  // For as many frames more as x has, which the caller writes.
  at::Tensor Room(const at::Tensor& x) {
    const int64_t waiting = frames_.defined() ? frames_.size(2) : 0;
    const at::Tensor room = RoomFor(x, waiting + x.size(2));
    if (waiting > 0) room.slice(2, 0, waiting).copy_(frames_);
    frames_ = room;
    return room.slice(2, waiting);
  }
  at::Tensor Take(int64_t count) {
    const at::Tensor taken = frames_.slice(2, 0, count);
    frames_ = count == frames_.size(2) ? at::Tensor() : frames_.slice(2, count).clone();
    return taken;
  }

 private:
  at::Tensor frames_;
};

// Frame by frame.
class Mapped : public FrameSource {
 public:
  using Map = std::function<Frames(const Ops&, const Frames&)>;
  Mapped(FrameSourcePtr input, Map map) : input_(std::move(input)), map_(std::move(map)) {}

  Frames Next(const Ops& ops) override { return map_(ops, input_->Next(ops)); }

 private:
  FrameSourcePtr input_;
  const Map map_;
};

FrameSourcePtr Map(FrameSourcePtr input, Mapped::Map map) {
  return std::make_unique<Mapped>(std::move(input), std::move(map));
}

Frames WithNoise(Frames frames, const at::Tensor& plane, const at::Tensor& scale) {
  if (plane.defined()) {
    frames.x = frames.x + (plane.unsqueeze(0) * scale).unsqueeze(0).unsqueeze(2);
  }
  return frames;
}

struct ScaleAndShift {
  at::Tensor scale, shift;
};

// Norm, modulation and SiLU of the piece, which is added to `inputs` too where there are some.
void NormSilu(const Ops& ops, const Frames& piece, const ScaleAndShift& modulation,
              const PaddedFrames& out, Pending* inputs) {
  const auto [scale, shift] = modulation;
  if (inputs != nullptr && piece.sum().is_x()) inputs->Add(piece.x);
  const bool made = inputs != nullptr && !piece.sum().is_x();
  const at::Tensor sum = made ? inputs->Room(piece.x) : at::Tensor();
  ops.ChannelNormSiluInto(piece.sum(), scale, shift, out, sum);
}

class Resnet : public FrameSource {
 public:
  Resnet(FrameSourcePtr input, const VaeResnet& resnet, const ResnetModulation& modulation,
         ResnetNoise noise, const Part& part)
      : resnet_(resnet), noise_(std::move(noise)) {
    const ScaleAndShift first = {modulation.scale1, modulation.shift1};
    const ScaleAndShift second = {modulation.scale2, modulation.shift2};
    FrameSourcePtr h =
        Convolved(std::move(input), resnet.conv1, part,
                  [this, first](const Ops& ops, const Frames& piece, const PaddedFrames& out) {
                    NormSilu(ops, piece, first, out, &pending_);
                  });
    h = Map(std::move(h), [this](const Ops&, const Frames& frames) {
      return WithNoise(frames, noise_.first, resnet_.noise_scale1);
    });
    branch_ = Convolved(std::move(h), resnet.conv2, part,
                        [second](const Ops& ops, const Frames& piece, const PaddedFrames& out) {
                          NormSilu(ops, piece, second, out, nullptr);
                        });
  }

  Frames Next(const Ops& ops) override {
    Frames h = WithNoise(branch_->Next(ops), noise_.second, resnet_.noise_scale2);
    h.residual = pending_.Take(h.x.size(2));
    if (resnet_.changes_channels()) {
      h.residual = ByFrame(h.residual,
                           [&](const at::Tensor& frame) { return resnet_.Shortcut(ops, frame); });
    }
    return h;
  }

 private:
  const VaeResnet& resnet_;
  const ResnetNoise noise_;
  Pending pending_;
  FrameSourcePtr branch_;
};

class Upsample : public FrameSource {
 public:
  Upsample(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage, const Part& part)
      : residual_(stage.residual) {
    const auto write = [this](const Ops&, const Frames& piece, const PaddedFrames& out) {
      const at::Tensor x = piece.sum().Made();
      if (residual_) pending_.Add(x);
      out.inner().copy_(x);
      out.CopyEnds();
    };
    branch_ = Convolved(std::move(input), conv, part, write);
  }

  Frames Next(const Ops& ops) override {
    Frames h = branch_->Next(ops);
    if (residual_) h.residual = pending_.Take(h.x.size(2));
    return {ops.DepthToSpace(h.sum(), std::exchange(at_start_, false)), h.last};
  }

 private:
  const bool residual_;
  Pending pending_;
  FrameSourcePtr branch_;
  bool at_start_ = true;
};

}  // namespace

FrameSourcePtr LatentSource(at::Tensor latents, int64_t piece) {
  return std::make_unique<Latents>(std::move(latents), piece);
}

FrameSourcePtr SliceSource(FrameSourcePtr input, int64_t frames) {
  return std::make_unique<Slices>(std::move(input), frames);
}

FrameSourcePtr ConvSource(FrameSourcePtr input, const VideoConv& conv, const Part& part) {
  const auto write = [](const Ops&, const Frames& piece, const PaddedFrames& out) {
    out.inner().copy_(piece.sum().Made());
    out.CopyEnds();
  };
  return Convolved(std::move(input), conv, part, write);
}

FrameSourcePtr ResnetSource(FrameSourcePtr input, const VaeResnet& resnet,
                            const ResnetModulation& modulation, ResnetNoise noise,
                            const Part& part) {
  return std::make_unique<Resnet>(std::move(input), resnet, modulation, std::move(noise), part);
}

FrameSourcePtr UpsampleSource(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage,
                              const Part& part) {
  return std::make_unique<Upsample>(std::move(input), conv, stage, part);
}

FrameSourcePtr PixelSource(FrameSourcePtr input, const VideoConv& conv, int64_t patch,
                           const ResnetModulation& modulation, const Part& part) {
  const ScaleAndShift head = {modulation.scale1, modulation.shift1};
  FrameSourcePtr h =
      Convolved(std::move(input), conv, part,
                [head](const Ops& ops, const Frames& piece, const PaddedFrames& out) {
                  NormSilu(ops, piece, head, out, nullptr);
                });
  return Map(std::move(h), [patch](const Ops&, const Frames& frames) -> Frames {
    return {Unpatchify(frames.sum().Made(), patch), frames.last};
  });
}

}  // namespace reel::model::ltx
