// SPDX-License-Identifier: Apache-2.0
#include "model/vae/decode_chain.h"

#include <utility>

namespace reel::model {
namespace {

FrameSourcePtr Convolved(FrameSourcePtr input, const VideoConv& conv, const Part& part,
                         WritePiece write) {
  return TimeConvSource(
      std::move(input),
      [&conv, part](const Ops& ops, const at::Tensor& own) {
        const auto beyond = conv.reflects ? RowPart::Beyond::kReflected : RowPart::Beyond::kZeros;
        const at::Tensor window = part.has_value() ? part->WithEdges(own, beyond) : own;
        const auto edges = part.has_value() ? VideoConv::Edges::kGiven : VideoConv::Edges::kOwn;
        return conv.Unbiased(ops, window, edges);
      },
      std::move(write));
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
              const PaddedFrames& out, WaitingFrames* inputs) {
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
    h = MapSource(std::move(h), [this](const Ops&, const Frames& frames) {
      return WithNoise(frames, noise_.first, resnet_.noise_scale1);
    });
    branch_ = Convolved(std::move(h), resnet.conv2, part,
                        [second](const Ops& ops, const Frames& piece, const PaddedFrames& out) {
                          NormSilu(ops, piece, second, out, nullptr);
                        });
  }

  Frames Next(const Ops& ops) override {
    Frames h = branch_->Next(ops);
    if (h.none()) return h;
    h = WithNoise(std::move(h), noise_.second, resnet_.noise_scale2);
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
  WaitingFrames pending_;
  FrameSourcePtr branch_;
};

class Upsample : public FrameSource {
 public:
  Upsample(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage, const Part& part)
      : residual_(stage.residual), stride_t_(stage.stride_t), stride_s_(stage.stride_s) {
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
    if (h.none()) return h;
    if (residual_) h.residual = pending_.Take(h.x.size(2));
    const bool at_start = std::exchange(at_start_, false);
    if (stride_t_ == 2 && stride_s_ == 2) {
      return {ops.DepthToSpace(h.sum(), at_start), h.last};
    }
    return {Unfolded(h, at_start && stride_t_ > 1), h.last};
  }

 private:
  // As Ops::DepthToSpace, which knows all doublings alone.
  at::Tensor Unfolded(const Frames& h, bool drop_first) const {
    at::Tensor x = DepthToSpace(FrameSum{h.x, {}, h.bias}.Made(), stride_t_, stride_s_, stride_s_);
    if (residual_) {
      const at::Tensor copy = DepthToSpace(h.residual, stride_t_, stride_s_, stride_s_);
      x = x + copy.repeat({1, x.size(1) / copy.size(1), 1, 1, 1});
    }
    return drop_first ? x.slice(2, 1) : x;
  }

  const bool residual_;
  const int64_t stride_t_, stride_s_;
  WaitingFrames pending_;
  FrameSourcePtr branch_;
  bool at_start_ = true;
};

}  // namespace

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
  return MapSource(std::move(h), [patch](const Ops&, const Frames& frames) -> Frames {
    return {Unpatchify(frames.sum().Made(), patch), frames.last};
  });
}

}  // namespace reel::model
