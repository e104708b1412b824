// SPDX-License-Identifier: Apache-2.0
#include "model/vae/diffusion_decoder.h"

#include <memory>
#include <string>
#include <utility>

#include "model/bridge/upload.h"
#include "model/frames/frame_chain.h"
#include "model/vae/vae_layers.h"

namespace reel::model {
namespace {

// Of one embedding of a time: scale, shift and gate of the attention, the same of the MLP, and a
// gate of the context. Gates are part of the weights behind them.
constexpr int64_t kModulations = 7;
constexpr int64_t kAttentionScale = 0, kAttentionShift = 1, kMlpScale = 3, kMlpShift = 4;
constexpr double kOutEps = 1e-6;
// Latents, and frames of each stage, that go through its layers at a time.
constexpr int64_t kLatentsTogether = 4, kFramesTogether = 8;

class NoiseRows final : public FrameSource {
 public:
  NoiseRows(FrameSourcePtr context, const Linear& from_noise, int64_t patch, PictureNoise noise,
            std::shared_ptr<ContextRows> rows)
      : context_(std::move(context)),
        from_noise_(from_noise),
        patch_(patch),
        noise_(std::move(noise)),
        rows_(std::move(rows)) {}

  Frames Next(const Ops& ops) override {
    if (!noise_.Prepare()) return {};
    const Frames context = context_->Next(ops);
    if (context.none()) return {};
    rows_->Add(RowsOfFrames(context.x).contiguous());
    const int64_t frames = context.x.size(2);
    const at::Tensor noise = Upload(noise_.Take(frames), context.x.device());
    const at::Tensor patches = RowsOfFrames(Patchify(noise, patch_)).contiguous();
    return {FramesOfRows(from_noise_(ops, patches)), context.last};
  }

 private:
  const FrameSourcePtr context_;
  const Linear& from_noise_;
  const int64_t patch_;
  PictureNoise noise_;
  const std::shared_ptr<ContextRows> rows_;
};

FrameSourcePtr LinearSource(FrameSourcePtr input, const Linear& layer) {
  return MapSource(std::move(input), [&layer](const Ops& ops, const Frames& piece) -> Frames {
    return {FramesOfRows(layer(ops, RowsOfFrames(piece.x).contiguous())), piece.last};
  });
}

// The last frames of a clip come all at once from a block: no later one is to take them so.
FrameSourcePtr BlockSource(FrameSourcePtr input, const WindowBlock& block, PictureBlock picture) {
  return SliceSource(WindowBlockSource(std::move(input), block, std::move(picture)),
                     kFramesTogether);
}

}  // namespace

DiffusionDecoder::DiffusionDecoder(Weights& weights, const DiffusionDecoderConfig& config)
    : config_(config), dtype_(weights.dtype()) {
  const auto index = [](const std::string& name, size_t i) {
    return name + "." + std::to_string(i);
  };
  from_latents_ = TakeLinear(weights, "decoder.conv_in", config.latent_channels,
                             config.stages.front().channels);
  for (size_t i = 0; i < config.stages.size(); ++i) {
    const WindowStage& layout = config.stages[i];
    Stage stage = {.layout = layout, .blocks = {}, .grow = {}};
    for (int64_t j = 0; j < layout.blocks && weights.ok(); ++j) {
      stage.blocks.push_back(
          TakeWindowBlock(weights, index(index("decoder.det_stages", i), static_cast<size_t>(j)),
                          layout.channels, layout.window, config.head_width));
    }
    const int64_t fold = layout.strides[0] * layout.strides[1] * layout.strides[2];
    stage.grow = TakeLinear(weights, index("decoder.upsamples", i) + ".proj", layout.channels,
                            layout.channels_after * fold);
    stages_.push_back(std::move(stage));
  }
  time_ = TakeTimestepEmbedding(weights, "decoder.t_embedder", config.time_width);
  modulation_ = TakeLinear(weights, "decoder.shared_adaln.proj", config.time_width,
                           kModulations * config.channels);
  const int64_t pixels = 3 * config.patch * config.patch;
  from_noise_ = TakeLinear(weights, "decoder.conv_in_x_t", pixels, config.channels);
  for (int64_t i = 0; i < config.blocks && weights.ok(); ++i) {
    const std::string name = index("decoder.diff_blocks", static_cast<size_t>(i));
    pictures_.push_back(
        {.block = TakeWindowBlock(weights, name, config.channels, config.window, config.head_width),
         .from_context =
             TakeLinear(weights, name + ".context_proj", config.channels, config.channels),
         .table = weights.Take(name + ".scale_shift_table", {kModulations, config.channels})});
  }
  norm_out_ = weights.Take("decoder.norm_out.weight", {config.channels});
  to_pixels_ = TakeLinear(weights, "decoder.conv_out", config.channels, pixels);
}

std::vector<int64_t> DiffusionDecoder::NoiseSizes(const LatentShape& latents) const {
  return {1, 3, (latents.frames - 1) * config_.temporal_compression + 1,
          latents.height * config_.spatial_compression,
          latents.width * config_.spatial_compression};
}

FrameSourcePtr DiffusionDecoder::AddStage(FrameSourcePtr rows, const Stage& stage) const {
  rows = SliceSource(std::move(rows), kFramesTogether);
  for (const WindowBlock& block : stage.blocks) rows = BlockSource(std::move(rows), block, {});
  rows = LinearSource(std::move(rows), stage.grow);
  return MapSource(std::move(rows),
                   [&stage, at_start = true](const Ops&, const Frames& piece) mutable -> Frames {
                     const auto [t, y, x] = stage.layout.strides;
                     const at::Tensor made = DepthToSpace(piece.x, t, y, x);
                     const bool drops = std::exchange(at_start, false) && t > 1;
                     return {drops ? made.slice(2, 1) : made, piece.last};
                   });
}

std::vector<BlockModulation> DiffusionDecoder::Modulations(const Ops& ops) const {
  const at::TensorOptions options = norm_out_.options();
  const at::Tensor time = at::full({1}, config_.time_multiplier, options.dtype(at::kFloat));
  const at::Tensor shared =
      modulation_(ops, at::silu(time_(ops, time))).view({kModulations, config_.channels});
  std::vector<BlockModulation> all;
  for (const Picture& picture : pictures_) {
    const at::Tensor rows = shared + picture.table;
    all.push_back({.attention_scale = rows[kAttentionScale] + 1,
                   .attention_shift = rows[kAttentionShift],
                   .mlp_scale = rows[kMlpScale] + 1,
                   .mlp_shift = rows[kMlpShift]});
  }
  return all;
}

at::Tensor DiffusionDecoder::Pictures(const Ops& ops, const at::Tensor& rows) const {
  const at::Tensor patches = to_pixels_(ops, ops.RmsNorm(rows, norm_out_, kOutEps));
  return Unpatchify(FramesOfRows(patches), config_.patch);
}

FrameSourcePtr DiffusionDecoder::Decode(const Ops& ops, FrameSourcePtr latents,
                                        PictureNoise noise) const {
  FrameSourcePtr chain = SliceSource(std::move(latents), kLatentsTogether);
  chain = RepeatLastSource(std::move(chain), config_.latents_behind());
  chain = LinearSource(std::move(chain), from_latents_);
  for (const Stage& stage : stages_) chain = AddStage(std::move(chain), stage);
  chain = WithoutLast(std::move(chain), config_.latents_behind() * config_.temporal_compression);
  chain = SliceSource(std::move(chain), kFramesTogether);
  auto context = std::make_shared<ContextRows>();
  chain = std::make_unique<NoiseRows>(std::move(chain), from_noise_, config_.patch,
                                      std::move(noise), context);
  const std::vector<BlockModulation> by = Modulations(ops);
  for (size_t i = 0; i < pictures_.size(); ++i) {
    chain = BlockSource(std::move(chain), pictures_[i].block,
                        {.by = by[i],
                         .from_context = &pictures_[i].from_context,
                         .context = context,
                         .drops_context = i + 1 == pictures_.size()});
  }
  return MapSource(std::move(chain), [this](const Ops& now, const Frames& piece) -> Frames {
    return {Pictures(now, RowsOfFrames(piece.x).contiguous()), piece.last};
  });
}

}  // namespace reel::model
