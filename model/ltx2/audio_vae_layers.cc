// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/audio_vae_layers.h"

#include <ATen/ops/constant_pad_nd.h>

#include "absl/strings/str_cat.h"

namespace reel::model::ltx2 {

at::Tensor AudioConv::operator()(const at::Tensor& x) const {
  const int64_t before = weight.size(2) - 1, side = weight.size(3) / 2;
  return at::conv2d(at::constant_pad_nd(x, {side, side, before, 0}), weight, bias);
}

AudioConv TakeAudioConv(Weights& weights, const std::string& name, int64_t in, int64_t out,
                        int64_t kernel) {
  return {weights.Take(name + ".conv.weight", {out, in, kernel, kernel}),
          weights.Take(name + ".conv.bias", {out})};
}

at::Tensor PixelNormSilu(const at::Tensor& x) {
  constexpr double kNormEps = 1e-6;
  return at::silu(x / (x.pow(2).mean(1, true) + kNormEps).sqrt());
}

at::Tensor AudioResnet::operator()(const at::Tensor& x) const {
  const at::Tensor h = conv2(PixelNormSilu(conv1(PixelNormSilu(x))));
  return (shortcut.weight.defined() ? shortcut(x) : x) + h;
}

AudioResnet TakeAudioResnet(Weights& weights, const std::string& name, int64_t in, int64_t out) {
  AudioResnet resnet;
  resnet.conv1 = TakeAudioConv(weights, name + ".conv1", in, out);
  resnet.conv2 = TakeAudioConv(weights, name + ".conv2", out, out);
  if (in != out) resnet.shortcut = TakeAudioConv(weights, name + ".nin_shortcut", in, out, 1);
  return resnet;
}

std::vector<AudioResnet> TakeAudioResnets(Weights& weights, const std::string& name, int64_t in,
                                          int64_t out, int64_t count) {
  std::vector<AudioResnet> resnets;
  for (int64_t i = 0; i < count; ++i) {
    resnets.push_back(TakeAudioResnet(weights, absl::StrCat(name, ".", i), i == 0 ? in : out, out));
  }
  return resnets;
}

}  // namespace reel::model::ltx2
