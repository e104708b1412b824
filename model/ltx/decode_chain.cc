// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/decode_chain.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace reel::model::ltx {
namespace {

class Latents : public FrameSource {
 public:
  Latents(at::Tensor latents, int64_t piece) : latents_(std::move(latents)), piece_(piece) {}

  Frames Next() override {
    const int64_t end = std::min(next_ + piece_, latents_.size(2));
    const int64_t begin = std::exchange(next_, end);
    return {latents_.slice(2, begin, end), end == latents_.size(2)};
  }

 private:
  const at::Tensor latents_;
  const int64_t piece_;
  int64_t next_ = 0;
};

// Hands out as many frames at a time as come in. The frame that only the end of the clip completes
// comes alone: were it joined to the frames before it, each layer would add one to the last piece,
// and a short clip would come out in one.
class Conv : public FrameSource {
 public:
  Conv(FrameSourcePtr input, const VideoConv& conv, const kernels::Execution& run)
      : input_(std::move(input)), conv_(conv), ops_(run) {}

  Frames Next() override {
    while (!ended_) {
      const Frames in = input_->Next();
      ended_ = in.last;
      // Frames that the next output looks back at; before the clip stands its first frame.
      const at::Tensor before = before_.defined() ? before_ : in.x.slice(2, 0, 1);
      const at::Tensor x = at::cat({before, in.x}, 2);
      before_ = x.slice(2, x.size(2) - kLookBack).clone();  // a view would keep the whole piece
      if (x.size(2) > kLookBack) return {Convolve(x), false};
    }
    // Behind the clip stands its last frame.
    return {Convolve(at::cat({before_, before_.slice(2, kLookBack - 1)}, 2)), true};
  }

 private:
  static constexpr int64_t kLookBack = 2;

  at::Tensor Convolve(const at::Tensor& x) const {
    return ByFrame(x, kLookBack + 1,
                   [this](const at::Tensor& window) { return conv_.Valid(ops_, window); });
  }

  FrameSourcePtr input_;
  const VideoConv& conv_;
  const Ops ops_;
  at::Tensor before_;
  bool ended_ = false;
};

// What was handed on and will be needed again, in order.
class Pending {
 public:
  void Add(const at::Tensor& x) { frames_ = frames_.defined() ? at::cat({frames_, x}, 2) : x; }
  at::Tensor Take(int64_t count) {
    const at::Tensor taken = frames_.slice(2, 0, count);
    frames_ = count == frames_.size(2) ? at::Tensor() : frames_.slice(2, count).clone();
    return taken;
  }

 private:
  at::Tensor frames_;
};

// Frame by frame, with a look at what passes.
class Mapped : public FrameSource {
 public:
  using Map = std::function<at::Tensor(const at::Tensor&)>;
  Mapped(FrameSourcePtr input, Map map) : input_(std::move(input)), map_(std::move(map)) {}

  Frames Next() override {
    const Frames in = input_->Next();
    return {map_(in.x), in.last};
  }

 private:
  FrameSourcePtr input_;
  const Map map_;
};

FrameSourcePtr Map(FrameSourcePtr input, Mapped::Map map) {
  return std::make_unique<Mapped>(std::move(input), std::move(map));
}

at::Tensor WithNoise(const at::Tensor& x, const at::Tensor& plane, const at::Tensor& scale) {
  if (!plane.defined()) return x;
  return x + (plane.unsqueeze(0) * scale).unsqueeze(0).unsqueeze(2);
}

at::Tensor NormSilu(const Ops& ops, const at::Tensor& x, const at::Tensor& scale,
                    const at::Tensor& shift) {
  return ByFrame(x, 1,
                 [&](const at::Tensor& frame) { return ops.ChannelNormSilu(frame, scale, shift); });
}

class Resnet : public FrameSource {
 public:
  Resnet(FrameSourcePtr input, const VaeResnet& resnet, ResnetModulation modulation,
         ResnetNoise noise, const kernels::Execution& run)
      : resnet_(resnet), noise_(std::move(noise)), ops_(run) {
    FrameSourcePtr h = Map(std::move(input), [this, modulation](const at::Tensor& x) {
      pending_.Add(x);
      return NormSilu(ops_, x, modulation.scale1, modulation.shift1);
    });
    h = ConvSource(std::move(h), resnet.conv1, run);
    h = Map(std::move(h), [this, modulation](const at::Tensor& x) {
      return NormSilu(ops_, WithNoise(x, noise_.first, resnet_.noise_scale1), modulation.scale2,
                      modulation.shift2);
    });
    branch_ = ConvSource(std::move(h), resnet.conv2, run);
  }

  Frames Next() override {
    const Frames h = branch_->Next();
    const at::Tensor x = pending_.Take(h.x.size(2));
    const at::Tensor shortcut =
        resnet_.changes_channels()
            ? ByFrame(x, 1,
                      [this](const at::Tensor& frame) { return resnet_.Shortcut(ops_, frame); })
            : x;
    return {WithNoise(h.x, noise_.second, resnet_.noise_scale2) + shortcut, h.last};
  }

 private:
  const VaeResnet& resnet_;
  const ResnetNoise noise_;
  const Ops ops_;
  Pending pending_;
  FrameSourcePtr branch_;
};

class Upsample : public FrameSource {
 public:
  Upsample(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage,
           const kernels::Execution& run)
      : stage_(stage) {
    FrameSourcePtr h = Map(std::move(input), [this](const at::Tensor& x) {
      if (stage_.residual) pending_.Add(x);
      return x;
    });
    branch_ = ConvSource(std::move(h), conv, run);
  }

  Frames Next() override {
    const Frames h = branch_->Next();
    at::Tensor x = DepthToSpace(h.x, 2, 2, 2);
    if (stage_.residual) {
      const at::Tensor copy = DepthToSpace(pending_.Take(h.x.size(2)), 2, 2, 2);
      x = x + copy.repeat({1, 8 / stage_.factor, 1, 1, 1});
    }
    if (std::exchange(at_start_, false)) x = x.slice(2, 1);
    return {x, h.last};
  }

 private:
  const UpStage stage_;
  Pending pending_;
  FrameSourcePtr branch_;
  bool at_start_ = true;
};

}  // namespace

FrameSourcePtr LatentSource(at::Tensor latents, int64_t piece) {
  return std::make_unique<Latents>(std::move(latents), piece);
}

FrameSourcePtr ConvSource(FrameSourcePtr input, const VideoConv& conv,
                          const kernels::Execution& run) {
  return std::make_unique<Conv>(std::move(input), conv, run);
}

FrameSourcePtr ResnetSource(FrameSourcePtr input, const VaeResnet& resnet,
                            ResnetModulation modulation, ResnetNoise noise,
                            const kernels::Execution& run) {
  return std::make_unique<Resnet>(std::move(input), resnet, std::move(modulation), std::move(noise),
                                  run);
}

FrameSourcePtr UpsampleSource(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage,
                              const kernels::Execution& run) {
  return std::make_unique<Upsample>(std::move(input), conv, stage, run);
}

FrameSourcePtr PixelSource(FrameSourcePtr input, const VideoConv& conv, int64_t patch,
                           ResnetModulation modulation, const kernels::Execution& run) {
  const Ops ops(run);
  FrameSourcePtr h = Map(std::move(input), [ops, modulation](const at::Tensor& x) {
    return NormSilu(ops, x, modulation.scale1, modulation.shift1);
  });
  return Map(ConvSource(std::move(h), conv, run),
             [patch](const at::Tensor& x) { return Unpatchify(x, patch); });
}

}  // namespace reel::model::ltx
