// SPDX-License-Identifier: Apache-2.0
// Layers of the video autoencoders' encoders and decoders. Tensors are [B, C, F, H, W].
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/bridge/conv3d_call.h"
#include "model/bridge/frame_sum.h"
#include "model/bridge/ops.h"
#include "model/frames/frame_chain.h"
#include "model/layers/tensor_visitor.h"
#include "model/layers/timestep_embedding.h"
#include "model/layers/weights.h"

namespace reel::model {

// A convolution over frames, rows and columns. Beyond the picture's edges are zeros, or the picture
// reflected. It has no padding in time: the caller decides which frames come before the first and
// after the last.
struct VideoConv {
  at::Tensor weight, bias;
  int64_t stride = 1;
  bool reflects = false;                // pictures have two rows and columns at least
  std::optional<aten::FrameTaps> taps;  // by ForFrames

  // The rows above and below: padded by the convolution itself, or already part of x.
  enum class Edges { kOwn, kGiven };
  // [B, C, F, H, W] to [B, C', F - k + 1, H, W] for stride 1; H - k + 1 rows where edges are given.
  at::Tensor Valid(const Ops& ops, const at::Tensor& x, Edges edges = Edges::kOwn) const;
  // The same with the bias still to be added where the library would take a pass of its own for it.
  FrameSum Unbiased(const Ops& ops, const at::Tensor& x, Edges edges = Edges::kOwn) const;
  // Causal: the first frame is repeated k - 1 times in front.
  at::Tensor Causal(const Ops& ops, const at::Tensor& x) const;
  int64_t kernel() const { return weight.size(2); }
};

// Applies `map` to every frame of x. On a CPU one by one: libraries choose algorithms, and vectors
// end, by size, which decides the last bits. So a frame's value does not depend on how many are
// beside it.
at::Tensor ByFrame(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& map);

// Reads `name`.conv.{weight,bias}; zeros beyond the edges.
VideoConv TakeVideoConv(Weights& weights, const std::string& name, int64_t in, int64_t out,
                        int64_t kernel = 3, int64_t stride = 1);

// The same, on a CPU with no frame's value depending on how many others there are.
VideoConv ForFrames(VideoConv conv);

// Shift and scale of both norms of a residual block, each [1, C, 1, 1, 1]; undefined where the
// block is not conditioned on a time.
struct ResnetModulation {
  at::Tensor shift1, scale1, shift2, scale2;
};

// norm, SiLU, conv, twice, added to the input.
struct VaeResnet {
  VideoConv conv1, conv2;
  at::Tensor norm3_weight, norm3_bias;    // where the number of channels changes
  VideoConv shortcut;                     //
  at::Tensor scale_shift_table;           // [4, C], where conditioned
  at::Tensor noise_scale1, noise_scale2;  // [C, 1, 1], where noise is injected
  double norm3_eps = 1e-6;

  bool changes_channels() const { return shortcut.weight.defined(); }
  bool injects_noise() const { return noise_scale1.defined(); }
  // `time` [1, 4 C] of the block that this one is part of.
  ResnetModulation Modulate(const at::Tensor& time) const;
  // What is added at the end.
  at::Tensor Shortcut(const Ops& ops, const at::Tensor& x) const;
  // As the encoder runs it: causal, without time and noise.
  at::Tensor Causal(const Ops& ops, const at::Tensor& x) const;
};

// Of a resnet of an encoder, whose convolutions have no taps.
void VisitTensors(VaeResnet& resnet, const TensorVisitor& visit);

struct ResnetOptions {
  int64_t in = 0, out = 0;
  double eps = 1e-6;
  bool conditioned = false;
  bool inject_noise = false;
  bool by_frame = false;  // ForFrames
  bool reflects = false;  // beyond the edges of pictures
};

VaeResnet TakeVaeResnet(Weights& weights, const std::string& name, const ResnetOptions& options);

// [B, C t y x, F, H, W] to [B, C, F t, H y, W x]; the channel's last index is x.
at::Tensor DepthToSpace(const at::Tensor& x, int64_t t, int64_t y, int64_t width);
// The inverse.
at::Tensor SpaceToDepth(const at::Tensor& x, int64_t t, int64_t y, int64_t width);

// Pictures to patches and back; in the channels the column comes before the row.
at::Tensor Patchify(const at::Tensor& pixels, int64_t patch);
at::Tensor Unpatchify(const at::Tensor& x, int64_t patch);

}  // namespace reel::model
