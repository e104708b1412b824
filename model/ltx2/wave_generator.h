// SPDX-License-Identifier: Apache-2.0
// A vocoder's generator: a spectrum to a wave, in fp32 whatever the weights' type. 16 bits would be
// heard: they err by 2 to 3 %.
#pragma once

#include <string>
#include <vector>

#include "model/ltx2/sound_layers.h"
#include "model/ltx2/vocoder_config.h"

namespace reel::model::ltx2 {

// Immutable after loading.
class WaveGenerator {
 public:
  // Reads `prefix`*; errors are remembered in `weights`, which must be fp32.
  WaveGenerator(Weights& weights, const std::string& prefix, const GeneratorConfig& config);

  // `spectrum` [1, in_channels, frames] to [1, out_channels, frames * SamplesPerFrame()]. Memory is
  // bounded: `piece` frames are made at a time, each with as many around it as its samples depend
  // on. Pieces equal the whole but for the order in which a library adds.
  at::Tensor operator()(const at::Tensor& spectrum, int64_t piece) const;

  const GeneratorConfig& config() const { return config_; }
  // Number of frames on each side that a sample depends on.
  int64_t reach() const { return reach_; }

 private:
  // Activation and convolution, twice, added to the input.
  struct Block {
    Snake snake1, snake2;  // undefined with leaky_relu
    WaveConv conv1, conv2;
  };
  struct Stage {
    WaveUpsampling upsampling;
    std::vector<std::vector<Block>> stacks;
  };

  Stage TakeStage(Weights& weights, const std::string& prefix, int64_t index) const;
  at::Tensor Run(const Stage& stage, const at::Tensor& x) const;
  at::Tensor Activate(const Snake& snake, const at::Tensor& x) const;
  at::Tensor Whole(const at::Tensor& spectrum) const;

  GeneratorConfig config_;
  WaveConv conv_in_, conv_out_;
  std::vector<Stage> stages_;
  Snake snake_out_;
  int64_t reach_ = 0;
};

}  // namespace reel::model::ltx2
