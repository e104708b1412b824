// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/checkpoint_config.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/ltx/read_vae_config.h"
#include "model/ltx/tensor_shapes.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

constexpr int64_t kWidth2b = 2048, kWidth13b = 4096;
constexpr int64_t kReleasedHeads = 32;
constexpr int64_t kReleasedChannels = 128;  // of the first stage of every released autoencoder
constexpr char kBlocks[] = "transformer_blocks.";

std::string Block(const std::string& side, int64_t i) { return absl::StrCat(side, i, "."); }

bool HasNewEncoder(CheckpointVersion version) { return version >= CheckpointVersion::k095; }

// The file's word on a number of the transformer; the fallback where it has none.
absl::StatusOr<int64_t> FromMetadata(const WeightSet& part, const char* key, int64_t fallback) {
  const std::string text = part.Metadata("config");
  if (text.empty()) return fallback;
  const std::string source = part.source() + ": __metadata__.config";
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, source));
  const auto section = json.find("transformer");
  if (section == json.end() || !section->is_object()) return fallback;
  ConfigReader reader(*section, source + ".transformer");
  const int64_t value = reader.Int(key, fallback, {1, 65536});
  REEL_RETURN_IF_ERROR(reader.status());
  return value;
}

// Lists of the folder's configuration run from the output to the latent.
template <typename T>
nlohmann::json Reversed(std::vector<T> list) {
  std::reverse(list.begin(), list.end());
  return list;
}

void ReadEncoderShapes(TensorShapes& shapes, CheckpointVersion version, nlohmann::json& json) {
  const std::string side = "encoder.down_blocks.", conv = "resnets.0.conv1.conv.weight";
  const int64_t stages = shapes.Count(side, "." + conv);
  std::vector<int64_t> channels, layers;
  std::vector<bool> scaling;
  for (int64_t i = 0; i < stages; ++i) {
    const std::string block = Block(side, i);
    channels.push_back(shapes.Size(block + conv, 1));
    layers.push_back(shapes.Count(block + "resnets.", ".conv1.conv.weight"));
    scaling.push_back(shapes.Has(block + "downsamplers.0.conv.weight") ||
                      shapes.Has(block + "downsamplers.0.conv.conv.weight"));
  }
  layers.push_back(shapes.Count("encoder.mid_block.resnets.", ".conv1.conv.weight"));
  if (HasNewEncoder(version)) {
    channels.push_back(shapes.Size("encoder.mid_block." + conv, 1));
    json["down_block_types"] = std::vector<std::string>(scaling.size(), "LTXVideo095DownBlock3D");
    json["downsample_type"] = {"spatial", "temporal", "spatiotemporal", "spatiotemporal"};
  }
  json["block_out_channels"] = channels;
  json["layers_per_block"] = layers;
  json["spatio_temporal_scaling"] = scaling;
}

void ReadDecoderShapes(TensorShapes& shapes, CheckpointVersion version, nlohmann::json& json) {
  const std::string side = "decoder.up_blocks.", mid = "decoder.mid_block.";
  const std::string conv = "resnets.0.conv1.conv.weight", noise = "resnets.0.per_channel_scale1";
  const int64_t stages = shapes.Count(side, "." + conv);
  std::vector<int64_t> channels, factors;
  std::vector<int64_t> layers = {shapes.Count(mid + "resnets.", ".conv1.conv.weight")};
  std::vector<bool> scaling, noises = {shapes.Has(mid + noise)};
  for (int64_t i = 0; i < stages; ++i) {
    const std::string block = Block(side, i), sampler = block + "upsamplers.0.conv.conv.weight";
    const bool upsamples = shapes.Has(sampler);
    // Eight new positions out of each, of channels that are divided by the factor.
    const int64_t factor =
        upsamples ? std::max<int64_t>(1, 8 * shapes.Size(sampler, 1) / shapes.Size(sampler, 0)) : 1;
    channels.push_back(shapes.Size(block + conv, 1) * factor);
    factors.push_back(factor);
    layers.push_back(shapes.Count(block + "resnets.", ".conv1.conv.weight"));
    scaling.push_back(upsamples);
    noises.push_back(shapes.Has(block + noise));
  }
  json["decoder_block_out_channels"] = Reversed(channels);
  json["decoder_layers_per_block"] = Reversed(layers);
  json["decoder_spatio_temporal_scaling"] = Reversed(scaling);
  json["decoder_inject_noise"] = Reversed(noises);
  json["upsample_factor"] = Reversed(factors);
  json["upsample_residual"] = std::vector<bool>(scaling.size(), version != CheckpointVersion::k090);
  json["timestep_conditioning"] = version != CheckpointVersion::k090;
}

}  // namespace

absl::StatusOr<TransformerConfig> TransformerConfigOf(const WeightSet& part,
                                                      CheckpointVersion version) {
  const bool is_13b = version == CheckpointVersion::k097;
  TensorShapes shapes(part);
  const int64_t width = shapes.Size("proj_in.weight", 0);
  REEL_RETURN_IF_ERROR(shapes.status());
  const int64_t release_heads = width == kWidth2b || width == kWidth13b ? kReleasedHeads : 0;
  REEL_ASSIGN_OR_RETURN(const int64_t heads,
                        FromMetadata(part, "num_attention_heads", release_heads));
  if (heads < 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the checkpoint does not say how many attention heads it has: ", part.source(),
                     ": __metadata__.config.transformer.num_attention_heads is missing, and ",
                     width, " is not the width of a known release"));
  }
  const int64_t layers = shapes.Count(kBlocks, ".scale_shift_table");
  REEL_ASSIGN_OR_RETURN(const int64_t known_layers, FromMetadata(part, "num_layers", layers));
  const nlohmann::json json = {
      {"in_channels", shapes.Size("proj_in.weight", 1)},
      {"out_channels", shapes.Size("proj_out.weight", 0)},
      {"caption_channels", shapes.Size("caption_projection.linear_1.weight", 1)},
      {"num_attention_heads", heads},
      {"attention_head_dim", std::max<int64_t>(1, width / heads)},
      {"cross_attention_dim", width},
      {"num_layers", known_layers},
      {"attention_bias", shapes.Has("transformer_blocks.0.attn1.to_q.bias")},
      {"attention_out_bias", shapes.Has("transformer_blocks.0.attn1.to_out.0.bias")}};
  if (width == kWidth2b && !is_13b) shapes.ExpectTensors(715, "2B transformer");
  if (width == kWidth13b && is_13b) shapes.ExpectTensors(1215, "13B transformer");
  REEL_RETURN_IF_ERROR(shapes.status());
  return ReadTransformerConfig(json, part.source());
}

absl::StatusOr<VaeConfig> VaeConfigOf(const WeightSet& part, CheckpointVersion version) {
  TensorShapes shapes(part);
  // Pixels of a patch, three channels each.
  const auto pixels = static_cast<double>(shapes.Size("encoder.conv_in.conv.weight", 1)) / 3;
  nlohmann::json json = {{"latent_channels", shapes.Size("latents_mean", 0)},
                         {"patch_size", static_cast<int64_t>(std::lround(std::sqrt(pixels)))}};
  ReadEncoderShapes(shapes, version, json);
  ReadDecoderShapes(shapes, version, json);
  REEL_RETURN_IF_ERROR(shapes.status());
  if (shapes.Size("encoder.conv_in.conv.weight", 0) == kReleasedChannels) {
    const size_t count = version == CheckpointVersion::k090   ? 190
                         : version == CheckpointVersion::k091 ? 294
                                                              : 226;
    const std::string_view name = NameOf(version);
    shapes.ExpectTensors(count, absl::StrCat("autoencoder of ", std::string(name)));
  }
  REEL_RETURN_IF_ERROR(shapes.status());
  return ReadVaeConfig(json, part.source());
}

SchedulerConfig SchedulerConfigOf(CheckpointVersion version) {
  SchedulerConfig config;
  if (version >= CheckpointVersion::k095) return config;
  config.use_dynamic_shifting = true;
  config.base_shift = 0.95;
  config.max_shift = 2.05;
  config.base_image_seq_len = 1024;
  config.shift_terminal = 0.1;
  return config;
}

}  // namespace reel::model::ltx
