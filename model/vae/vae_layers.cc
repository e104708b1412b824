// SPDX-License-Identifier: Apache-2.0
#include "model/vae/vae_layers.h"

#include <ATen/ops/reflection_pad3d.h>

#include <utility>

#include "model/bridge/conv_by_taps.h"

namespace reel::model {

namespace {

at::Tensor Convolve(const Ops& ops, const VideoConv& conv, const at::Tensor& x,
                    const at::Tensor& bias, VideoConv::Edges edges) {
  const int64_t side = conv.kernel() / 2, above = edges == VideoConv::Edges::kOwn ? side : 0;
  const bool reflects = conv.reflects && side > 0;
  at::Tensor rows = reflects ? at::reflection_pad3d(x, {side, side, above, above, 0, 0}) : x;
  if (rows.is_cuda()) rows = rows.contiguous(kFrameMemory);
  const aten::Sides zeros = {0, reflects ? 0 : above, reflects ? 0 : side};
  return ops.Conv3d(rows, conv.weight, bias, {conv.stride, conv.stride, conv.stride}, zeros,
                    conv.taps.has_value() ? &*conv.taps : nullptr);
}

}  // namespace

at::Tensor VideoConv::Valid(const Ops& ops, const at::Tensor& x, Edges edges) const {
  return Convolve(ops, *this, x, bias, edges);
}

FrameSum VideoConv::Unbiased(const Ops& ops, const at::Tensor& x, Edges edges) const {
  if (!x.is_cuda()) return {Valid(ops, x, edges)};
  return {Convolve(ops, *this, x, {}, edges), {}, bias};
}

at::Tensor VideoConv::Causal(const Ops& ops, const at::Tensor& x) const {
  if (kernel() == 1) return Valid(ops, x);
  const at::Tensor first = x.slice(2, 0, 1).repeat({1, 1, kernel() - 1, 1, 1});
  return Valid(ops, at::cat({first, x}, 2));
}

at::Tensor ByFrame(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& map) {
  if (!x.device().is_cpu()) return map(x);
  std::vector<at::Tensor> outputs;
  for (int64_t i = 0; i < x.size(2); ++i) outputs.push_back(map(x.slice(2, i, i + 1)));
  return at::cat(outputs, 2);
}

VideoConv TakeVideoConv(Weights& weights, const std::string& name, int64_t in, int64_t out,
                        int64_t kernel, int64_t stride) {
  at::Tensor weight = weights.Take(name + ".conv.weight", {out, in, kernel, kernel, kernel});
  if (weight.defined() && weight.is_cuda()) weight = weight.contiguous(kFrameMemory);
  return {weight, weights.Take(name + ".conv.bias", {out}), stride, false, {}};
}

VideoConv ForFrames(VideoConv conv) {
  if (conv.weight.defined() && conv.weight.is_cpu()) conv.taps = aten::TapsOf(conv.weight);
  return conv;
}

void VisitTensors(VaeResnet& resnet, const TensorVisitor& visit) {
  for (VideoConv* conv : {&resnet.conv1, &resnet.conv2, &resnet.shortcut}) {
    VisitIfDefined(conv->weight, visit);
    VisitIfDefined(conv->bias, visit);
  }
  for (at::Tensor* tensor : {&resnet.norm3_weight, &resnet.norm3_bias, &resnet.scale_shift_table,
                             &resnet.noise_scale1, &resnet.noise_scale2}) {
    VisitIfDefined(*tensor, visit);
  }
}

ResnetModulation VaeResnet::Modulate(const at::Tensor& time) const {
  if (!scale_shift_table.defined()) return {};
  const at::Tensor rows = time.unflatten(1, {4, -1}) + scale_shift_table.unsqueeze(0);  // [1, 4, C]
  const auto row = [&rows](int64_t i) {
    return rows.select(1, i).unsqueeze(-1).unsqueeze(-1).unsqueeze(-1);
  };
  return {row(0), row(1), row(2), row(3)};
}

at::Tensor VaeResnet::Shortcut(const Ops& ops, const at::Tensor& x) const {
  if (!changes_channels()) return x;
  const at::Tensor rows = x.movedim(1, -1).contiguous();  // [B, F, H, W, C]
  return shortcut.Valid(ops,
                        ops.LayerNorm(rows, norm3_weight, norm3_bias, norm3_eps).movedim(-1, 1));
}

at::Tensor VaeResnet::Causal(const Ops& ops, const at::Tensor& x) const {
  at::Tensor h = conv1.Causal(ops, ops.ChannelNormSilu(x, {}, {}));
  h = conv2.Causal(ops, ops.ChannelNormSilu(h, {}, {}));
  return h + Shortcut(ops, x);
}

VaeResnet TakeVaeResnet(Weights& weights, const std::string& name, const ResnetOptions& options) {
  VaeResnet resnet;
  const auto [in, out] = std::pair(options.in, options.out);
  resnet.norm3_eps = options.eps;
  resnet.conv1 = TakeVideoConv(weights, name + ".conv1", in, out);
  resnet.conv2 = TakeVideoConv(weights, name + ".conv2", out, out);
  resnet.conv1.reflects = resnet.conv2.reflects = options.reflects;
  if (options.by_frame) {
    resnet.conv1 = ForFrames(std::move(resnet.conv1));
    resnet.conv2 = ForFrames(std::move(resnet.conv2));
  }
  if (in != out) {
    resnet.norm3_weight = weights.Take(name + ".norm3.weight", {in});
    resnet.norm3_bias = weights.Take(name + ".norm3.bias", {in});
    resnet.shortcut = TakeVideoConv(weights, name + ".conv_shortcut", in, out, 1);
  }
  if (options.conditioned) {
    resnet.scale_shift_table = weights.Take(name + ".scale_shift_table", {4, in});
  }
  if (options.inject_noise) {
    resnet.noise_scale1 = weights.Take(name + ".per_channel_scale1", {in, 1, 1});
    resnet.noise_scale2 = weights.Take(name + ".per_channel_scale2", {in, 1, 1});
  }
  return resnet;
}

at::Tensor DepthToSpace(const at::Tensor& x, int64_t t, int64_t y, int64_t width) {
  return x.unflatten(1, {-1, t, y, width})
      .permute({0, 1, 5, 2, 6, 3, 7, 4})
      .flatten(6, 7)
      .flatten(4, 5)
      .flatten(2, 3);
}

at::Tensor SpaceToDepth(const at::Tensor& x, int64_t t, int64_t y, int64_t width) {
  return x.unflatten(4, {-1, width})
      .unflatten(3, {-1, y})
      .unflatten(2, {-1, t})
      .permute({0, 1, 3, 5, 7, 2, 4, 6})
      .flatten(1, 4);
}

at::Tensor Patchify(const at::Tensor& pixels, int64_t patch) {
  return pixels.unflatten(4, {-1, patch})
      .unflatten(3, {-1, patch})  // [B, C, F, h, p, w, q]
      .permute({0, 1, 6, 4, 2, 3, 5})
      .flatten(1, 3);
}

at::Tensor Unpatchify(const at::Tensor& x, int64_t patch) {
  return x
      .unflatten(1, {-1, patch, patch})  // [B, C, q, p, F, h, w]
      .permute({0, 1, 4, 5, 3, 6, 2})
      .flatten(5, 6)
      .flatten(3, 4);
}

}  // namespace reel::model
