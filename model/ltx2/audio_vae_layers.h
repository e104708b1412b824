// SPDX-License-Identifier: Apache-2.0
// Layers of the audio autoencoder. Tensors are [1, C, frames, bins], in the model's type.
#pragma once

#include <string>
#include <vector>

#include "model/layers/weights.h"

namespace reel::model::ltx2 {

// A convolution that sees a frame and those before it, and bins on both sides; zeros beyond.
struct AudioConv {
  at::Tensor weight, bias;

  at::Tensor operator()(const at::Tensor& x) const;
};

// Reads `name`.conv.{weight,bias}.
AudioConv TakeAudioConv(Weights& weights, const std::string& name, int64_t in, int64_t out,
                        int64_t kernel = 3);

// x over the root mean square of its channels, then SiLU. The norm rounds after each operation, as
// the reference's does.
at::Tensor PixelNormSilu(const at::Tensor& x);

// Norm, SiLU, convolution, twice, added to the input.
struct AudioResnet {
  AudioConv conv1, conv2;
  AudioConv shortcut;  // where the number of channels changes

  at::Tensor operator()(const at::Tensor& x) const;
};

AudioResnet TakeAudioResnet(Weights& weights, const std::string& name, int64_t in, int64_t out);
// `count` of them, `name`.0 and so on, the first from `in` channels.
std::vector<AudioResnet> TakeAudioResnets(Weights& weights, const std::string& name, int64_t in,
                                          int64_t out, int64_t count);

}  // namespace reel::model::ltx2
