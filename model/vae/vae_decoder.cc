// SPDX-License-Identifier: Apache-2.0
#include "model/vae/vae_decoder.h"

#include <string>
#include <utility>

#include "model/bridge/random.h"

namespace reel::model {

struct VaeDecoder::Build {
  const Ops& ops;
  at::Generator& noise;
  at::Tensor time;  // [1], scaled; undefined where the decoder is not conditioned
  at::TensorOptions options;
  int64_t height, width;  // of the whole frames so far
  Part part;
  int64_t scale = 1;  // rows for a latent's
  int64_t rate = 1;   // frames for a latent
  FrameSourcePtr chain;
};

VideoConv VaeDecoder::TakeConv(Weights& weights, const std::string& name, int64_t in,
                               int64_t out) const {
  VideoConv conv = ForFrames(TakeVideoConv(weights, name, in, out));
  conv.reflects = config_.decoder_reflects;
  return conv;
}

VaeDecoder::Stage VaeDecoder::TakeStage(Weights& weights, const std::string& name,
                                        const UpStage& layout) const {
  Stage stage;
  stage.layout = layout;
  ResnetOptions options = {.in = layout.in,
                           .out = layout.out,
                           .eps = config_.norm_eps,
                           .conditioned = config_.timestep_conditioning,
                           .inject_noise = layout.inject_noise,
                           .by_frame = true,
                           .reflects = config_.decoder_reflects};
  if (layout.has_conv_in) stage.conv_in = TakeVaeResnet(weights, name + ".conv_in", options);
  if (config_.timestep_conditioning) {
    // As wide as the stage after its upsampling, in all releases.
    stage.time = TakeTimestepEmbedding(weights, name + ".time_embedder", 4 * layout.out);
  }
  if (layout.upsample) {
    const int64_t in = layout.out * layout.factor;
    const int64_t fold = layout.stride_t * layout.stride_s * layout.stride_s;
    stage.upsampler = TakeConv(weights, name + ".upsamplers.0.conv", in, in * fold / layout.factor);
  }
  options.in = layout.out;
  for (int64_t i = 0; i < layout.layers; ++i) {
    stage.resnets.push_back(
        TakeVaeResnet(weights, name + ".resnets." + std::to_string(i), options));
  }
  return stage;
}

VaeDecoder::VaeDecoder(Weights& weights, const VaeConfig& config) : config_(config) {
  conv_in_ = TakeConv(weights, "decoder.conv_in", config.latent_channels, config.decoder_mid);
  mid_ = TakeStage(weights, "decoder.mid_block",
                   {.in = config.decoder_mid,
                    .out = config.decoder_mid,
                    .layers = config.decoder_mid_layers,
                    .inject_noise = config.decoder_mid_noise});
  for (size_t i = 0; i < config.up.size(); ++i) {
    stages_.push_back(TakeStage(weights, "decoder.up_blocks." + std::to_string(i), config.up[i]));
  }
  if (config.timestep_conditioning) {
    time_multiplier_ = weights.Take("decoder.timestep_scale_multiplier", {});
    time_ = TakeTimestepEmbedding(weights, "decoder.time_embedder", 2 * config.decoder_out);
    scale_shift_table_ = weights.Take("decoder.scale_shift_table", {2, config.decoder_out});
  }
  conv_out_ =
      TakeConv(weights, "decoder.conv_out", config.decoder_out, 3 * config.patch * config.patch);
}

at::Tensor VaeDecoder::DrawPlane(Build& build) {
  const at::Tensor plane = DrawNormal({build.height, build.width}, build.noise, build.options);
  if (!build.part.has_value()) return plane;
  const int64_t first = build.part->first * build.scale;
  return plane.slice(0, first, first + build.part->count * build.scale);
}

void VaeDecoder::AddResnet(Build& build, const VaeResnet& resnet, const at::Tensor& time) {
  ResnetNoise noise;
  if (resnet.injects_noise()) {
    noise.first = DrawPlane(build);
    noise.second = DrawPlane(build);
  }
  const ResnetModulation modulation = time.defined() ? resnet.Modulate(time) : ResnetModulation();
  build.chain =
      ResnetSource(std::move(build.chain), resnet, modulation, std::move(noise), build.part);
}

void VaeDecoder::AddStage(Build& build, const Stage& stage) const {
  if (stage.conv_in.has_value()) AddResnet(build, *stage.conv_in, {});
  const at::Tensor time =
      stage.time.has_value() ? (*stage.time)(build.ops, build.time) : at::Tensor();
  if (stage.upsampler.has_value()) {
    build.chain =
        UpsampleSource(std::move(build.chain), *stage.upsampler, stage.layout, build.part);
    build.height *= stage.layout.stride_s;
    build.width *= stage.layout.stride_s;
    build.scale *= stage.layout.stride_s;
    build.rate *= stage.layout.stride_t;
  }
  for (const VaeResnet& resnet : stage.resnets) AddResnet(build, resnet, time);
}

FrameSourcePtr VaeDecoder::Decode(const Ops& ops, const at::Tensor& latents,
                                  const DecodeInputs& inputs, const RowPart* part) const {
  return DecodeFrom(ops, LatentSource(latents, inputs.pieces.early), latents, inputs, part);
}

FrameSourcePtr VaeDecoder::DecodeFrom(const Ops& ops, FrameSourcePtr latents,
                                      const at::Tensor& like, const DecodeInputs& inputs,
                                      const RowPart* part) const {
  const DecodePieces& pieces = inputs.pieces;
  Build build = {.ops = ops,
                 .noise = inputs.noise,
                 .time = {},
                 .options = like.options(),
                 .height = part == nullptr ? like.size(3) : part->all,
                 .width = like.size(4),
                 .part = part == nullptr ? Part() : Part(*part),
                 .chain = std::move(latents)};
  ResnetModulation head;
  if (is_conditioned()) {
    build.time = at::full({1}, inputs.time, like.options()) * time_multiplier_;
    const at::Tensor rows =
        (*time_)(ops, build.time).unflatten(1, {2, -1}) + scale_shift_table_.unsqueeze(0);
    const auto row = [&rows](int64_t i) {
      return rows.select(1, i).unsqueeze(-1).unsqueeze(-1).unsqueeze(-1);
    };
    head.shift1 = row(0);
    head.scale1 = row(1);
  }
  build.chain = ConvSource(std::move(build.chain), conv_in_, build.part);
  AddStage(build, mid_);
  for (const Stage& stage : stages_) {
    // A layer's last piece has the frame more that its first lacked: each stage begins anew.
    const int64_t latents_at_once = &stage == &stages_.back() ? pieces.late : pieces.early;
    build.chain = SliceSource(std::move(build.chain), latents_at_once * build.rate);
    AddStage(build, stage);
  }
  build.chain = PixelSource(std::move(build.chain), conv_out_, config_.patch, head, build.part);
  return SliceSource(std::move(build.chain), pieces.late * build.rate);
}

}  // namespace reel::model
