// SPDX-License-Identifier: Apache-2.0
// Reads the keys of a file's configuration in which releases differ; the rest comes from the
// tensors.
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "model/ltx2/config_rules.h"
#include "model/ltx2/single_file.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;

const json& In(const json& object, const char* key) {
  static const json kNone = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNone;
}

// "2.3", "2.4-rc2": numbers, not texts. Files without one are of 2.0.
std::pair<int, int> VersionOf(const WeightSet& file) {
  const std::string text = file.Metadata("model_version");
  const std::vector<std::string> numbers = absl::StrSplit(text, absl::ByAnyChar(".-"));
  std::pair<int, int> version = {2, 0};
  if (numbers.size() < 2 || !absl::SimpleAtoi(numbers[0], &version.first) ||
      !absl::SimpleAtoi(numbers[1], &version.second)) {
    return {2, 0};
  }
  return version;
}

json Or(const json& object, const char* key, json fallback) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? fallback : *found;
}

int64_t Side(const WeightSet& file, const std::string& name, size_t axis, int64_t fallback) {
  const StoredTensor* const tensor = file.Find(name);
  return tensor != nullptr && axis < tensor->entry->shape.size() ? tensor->entry->shape[axis]
                                                                 : fallback;
}

// Keys that a folder has under the same names.
void Copy(const json& from, std::initializer_list<const char*> keys, json& to) {
  for (const char* key : keys) {
    if (from.contains(key)) to[key] = from[key];
  }
}

absl::StatusOr<json> TransformerConfigOf(const WeightSet& file, const json& config) {
  const json& own = In(config, "transformer");
  ConfigReader reader(own, file.source());
  json made;
  Copy(own,
       {"num_attention_heads", "attention_head_dim", "in_channels", "out_channels", "num_layers",
        "cross_attention_dim", "norm_eps", "timestep_scale_multiplier", "audio_num_attention_heads",
        "audio_attention_head_dim", "audio_in_channels", "audio_out_channels",
        "audio_cross_attention_dim", "caption_channels", "use_prompt_adaln_single", "ff_bias",
        "audio_ff_bias", "use_keyframes_abs_pos_embedding"},
       made);
  made["rope_type"] = reader.String("rope_type", "split");
  made["rope_double_precision"] = reader.String("frequencies_precision", "") == "float64";
  made["rope_theta"] = reader.Number("positional_embedding_theta", 10000);
  const bool gates = reader.Bool("apply_gated_attention", false);
  const bool modulates_text = reader.Bool("cross_attention_adaln", false);
  made["gated_attn"] = made["audio_gated_attn"] = gates;
  made["cross_attn_mod"] = made["audio_cross_attn_mod"] = modulates_text;
  made["use_prompt_embeddings"] = !reader.Bool("caption_proj_before_connector", false);
  made["perturbed_attn"] = VersionOf(file) >= std::pair(2, 3);
  made["cross_attn_timestep_scale_multiplier"] =
      reader.Number("av_ca_timestep_scale_multiplier", 1);
  const std::vector<int64_t> places =
      reader.Ints("positional_embedding_max_pos", {20, 2048, 2048}, {1, 1'000'000});
  const std::vector<int64_t> seconds =
      reader.Ints("audio_positional_embedding_max_pos", {20}, {1, 1'000'000});
  if (places.size() != 3) reader.Fail("positional_embedding_max_pos", "must be three numbers");
  if (seconds.size() != 1) reader.Fail("audio_positional_embedding_max_pos", "must be one number");
  REEL_RETURN_IF_ERROR(reader.status());
  made["pos_embed_max_pos"] = places[0];
  made["base_height"] = places[1];
  made["base_width"] = places[2];
  made["audio_pos_embed_max_pos"] = seconds[0];
  return made;
}

absl::StatusOr<json> ConnectorsConfigOf(const WeightSet& file, const json& config) {
  const json& own = In(config, "transformer");
  const std::string projection = "text_embedding_projection.";
  const bool projects_each = file.Find(projection + "video_aggregate_embed.weight") != nullptr;
  const std::string first = projection + (projects_each ? "video_" : "") + "aggregate_embed.";
  ConfigReader reader(own, file.source());
  json made;
  made["rope_type"] = reader.String("rope_type", "split");
  made["rope_double_precision"] = reader.String("frequencies_precision", "") == "float64";
  made["per_modality_projections"] = projects_each;
  made["proj_bias"] = file.Find(first + "bias") != nullptr;
  const int64_t channels = reader.Int("caption_channels", 3840, kWidths);
  made["caption_channels"] = channels;
  made["text_proj_in_factor"] = Side(file, first + "weight", 1, 49 * channels) / channels;
  const std::vector<int64_t> base =
      reader.Ints("connector_positional_embedding_max_pos", {4096}, {1, 1'000'000});
  if (base.size() != 1) reader.Fail("connector_positional_embedding_max_pos", "must be one number");
  const bool gates = reader.Bool("connector_apply_gated_attention", false);
  struct Stream {
    const char* name;
    int64_t heads, head_dim, layers;
  };
  const Stream video = {"video", reader.Int("connector_num_attention_heads", 30, kHeads),
                        reader.Int("connector_attention_head_dim", 128, kHeads),
                        reader.Int("connector_num_layers", 2, {1, 1024})};
  const Stream audio = {"audio",
                        reader.Int("audio_connector_num_attention_heads", video.heads, kHeads),
                        reader.Int("audio_connector_attention_head_dim", video.head_dim, kHeads),
                        reader.Int("audio_connector_num_layers", video.layers, {1, 1024})};
  REEL_RETURN_IF_ERROR(reader.status());
  made["connector_rope_base_seq_len"] = base[0];
  for (const Stream& stream : {video, audio}) {
    const std::string name = stream.name, key = name + "_connector_";
    made[key + "num_attention_heads"] = stream.heads;
    made[key + "attention_head_dim"] = stream.head_dim;
    made[key + "num_layers"] = stream.layers;
    made[key + "num_learnable_registers"] =
        Side(file, "model.diffusion_model." + name + "_embeddings_connector.learnable_registers", 0,
             128);
    made[name + "_gated_attn"] = gates;
    if (projects_each) made[name + "_hidden_dim"] = stream.heads * stream.head_dim;
  }
  return made;
}

// One item of a list of blocks: ["res_x", {"num_layers": 4}].
struct Block {
  std::string kind;
  json values;
};
absl::StatusOr<std::vector<Block>> BlocksOf(const json& own, const char* key,
                                            const std::string& source) {
  const auto refused = [&](const std::string& why) {
    return absl::FailedPreconditionError(
        absl::StrCat("bad configuration: ", source, ": ", key, " ", why));
  };
  const auto found = own.find(key);
  if (found == own.end() || !found->is_array() || found->size() % 2 == 0 || found->size() > 64) {
    return refused("must be a list of blocks with changes of size between them");
  }
  std::vector<Block> blocks;
  for (const json& item : *found) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_object()) {
      return refused("must hold pairs of a name and its values");
    }
    blocks.push_back({item[0].get<std::string>(), item[1]});
    const bool is_res = blocks.size() % 2 == 1;
    if (is_res != (blocks.back().kind == "res_x")) {
      return refused(absl::StrCat("has ", blocks.back().kind, ", which is not read there"));
    }
  }
  return blocks;
}

// "compress_space_res" to diffusers' word.
absl::StatusOr<std::string> FoldOf(const Block& block, const char* ending,
                                   const std::string& source) {
  if (block.kind == absl::StrCat("compress_all", ending)) return "spatiotemporal";
  if (block.kind == absl::StrCat("compress_space", ending)) return "spatial";
  if (block.kind == absl::StrCat("compress_time", ending)) return "temporal";
  return absl::FailedPreconditionError(
      absl::StrCat("bad configuration: ", source, ": vae has ", block.kind, ", which is not read"));
}

absl::Status ReadEncoder(const std::vector<Block>& blocks, const std::string& source, json& made) {
  std::vector<int64_t> channels, layers;
  std::vector<std::string> types;
  int64_t width = made["latent_channels"];
  for (size_t i = 0; i < blocks.size(); ++i) {
    ConfigReader reader(blocks[i].values, source);
    if (i % 2 == 0) {
      layers.push_back(reader.Int("num_layers", 0, {1, 64}));
    } else {
      REEL_ASSIGN_OR_RETURN(std::string type, FoldOf(blocks[i], "_res", source));
      types.push_back(std::move(type));
      width *= reader.Int("multiplier", 2, {1, 8});
      channels.push_back(width);
    }
    REEL_RETURN_IF_ERROR(reader.status());
  }
  made["block_out_channels"] = channels;
  made["layers_per_block"] = layers;
  made["downsample_type"] = types;
  made["spatio_temporal_scaling"] = std::vector<bool>(types.size(), true);
  return absl::OkStatus();
}

// A file's list runs from the pictures to the latent, as all of the folder's but upsample_type.
absl::Status ReadDecoder(const std::vector<Block>& blocks, const std::string& source, int64_t width,
                         json& made) {
  std::vector<int64_t> channels, layers, factors;
  std::vector<bool> residual;
  std::vector<std::string> types;
  for (size_t i = blocks.size(); i-- > 0;) {
    ConfigReader reader(blocks[i].values, source);
    if (i % 2 == 0) {
      layers.push_back(reader.Int("num_layers", 0, {1, 64}));
    } else {
      REEL_ASSIGN_OR_RETURN(std::string type, FoldOf(blocks[i], "", source));
      types.push_back(std::move(type));
      factors.push_back(reader.Int("multiplier", 1, {1, 8}));
      residual.push_back(reader.Bool("residual", false));
      channels.push_back(width);
      width /= factors.back();
    }
    reader.Only("inject_noise", false);
    REEL_RETURN_IF_ERROR(reader.status());
  }
  made["decoder_block_out_channels"] = std::vector(channels.rbegin(), channels.rend());
  made["decoder_layers_per_block"] = std::vector(layers.rbegin(), layers.rend());
  made["upsample_factor"] = std::vector(factors.rbegin(), factors.rend());
  made["upsample_residual"] = std::vector<bool>(residual.rbegin(), residual.rend());
  made["upsample_type"] = types;
  made["decoder_spatio_temporal_scaling"] = std::vector<bool>(types.size(), true);
  made["decoder_inject_noise"] = std::vector<bool>(types.size() + 1, false);
  return absl::OkStatus();
}

absl::StatusOr<json> VaeConfigOf(const WeightSet& file, const json& config) {
  const json& own = In(config, "vae");
  ConfigReader reader(own, file.source());
  json made;
  made["latent_channels"] = reader.Int("latent_channels", 128, kWidths);
  made["patch_size"] = reader.Int("patch_size", 4, {1, 64});
  made["timestep_conditioning"] = reader.Bool("timestep_conditioning", true);
  made["decoder_causal"] = reader.Bool("causal_decoder", false);
  made["decoder_spatial_padding_mode"] = reader.String("spatial_padding_mode", "reflect");
  reader.Only("norm_layer", "pixel_norm");
  REEL_RETURN_IF_ERROR(reader.status());
  REEL_ASSIGN_OR_RETURN(const auto encoder, BlocksOf(own, "encoder_blocks", file.source()));
  REEL_ASSIGN_OR_RETURN(const auto decoder, BlocksOf(own, "decoder_blocks", file.source()));
  REEL_RETURN_IF_ERROR(ReadEncoder(encoder, file.source(), made));
  const int64_t width = Side(file, "vae.decoder.conv_in.conv.weight", 0, 1024);
  REEL_RETURN_IF_ERROR(ReadDecoder(decoder, file.source(), width, made));
  return made;
}

json AudioVaeConfigOf(const json& config) {
  const json& own = In(config, "audio_vae");
  const json& model = In(In(own, "model"), "params");
  const json& sizes = In(model, "ddconfig");
  const json& preprocessing = In(own, "preprocessing");
  json made;
  const std::array<std::pair<const char*, const char*>, 3> renamed = {
      {{"ch", "base_channels"}, {"out_ch", "output_channels"}, {"z_channels", "latent_channels"}}};
  for (const auto& [theirs, ours] : renamed) {
    if (sizes.contains(theirs)) made[ours] = sizes[theirs];
  }
  Copy(sizes,
       {"ch_mult", "num_res_blocks", "in_channels", "norm_type", "causality_axis", "double_z"},
       made);
  // What is true where the key is missing, and no release has.
  made["mid_block_add_attention"] = Or(sizes, "mid_block_add_attention", false);
  made["mel_bins"] = Or(sizes, "mel_bins", Or(In(preprocessing, "mel"), "n_mel_channels", 64));
  made["sample_rate"] = Or(model, "sampling_rate", 16000);
  made["mel_hop_length"] = Or(In(preprocessing, "stft"), "hop_length", 160);
  return made;
}

// One generator; `prefix` of the folder's keys. How wide it begins is in its first tensor.
void ReadGenerator(const json& own, const std::string& prefix, bool is_extended,
                   const StoredTensor* first, json& made) {
  const std::array<std::pair<const char*, const char*>, 5> renamed = {
      {{"upsample_initial_channel", "hidden_channels"},
       {"upsample_rates", "upsample_factors"},
       {"upsample_kernel_sizes", "upsample_kernel_sizes"},
       {"resblock_kernel_sizes", "resnet_kernel_sizes"},
       {"resblock_dilation_sizes", "resnet_dilations"}}};
  for (const auto& [theirs, ours] : renamed) {
    if (own.contains(theirs)) made[prefix + ours] = own[theirs];
  }
  if (first != nullptr && first->entry->shape.size() > 1) {
    made[prefix + "in_channels"] = first->entry->shape[1];
  }
  if (own.contains("use_bias_at_final")) made[prefix + "final_bias"] = own["use_bias_at_final"];
  if (is_extended && own.contains("activation")) made[prefix + "act_fn"] = own["activation"];
}

json VocoderConfigOf(const WeightSet& file, const json& config) {
  const json& own = In(config, "vocoder");
  json made;
  made["_class_name"] = own.contains("bwe") ? "LTX2VocoderWithBWE" : "LTX2Vocoder";
  if (!own.contains("bwe")) {
    ReadGenerator(own, "", false, file.Find("vocoder.conv_pre.weight"), made);
    Copy(own, {"output_sampling_rate"}, made);
    if (Or(own, "use_tanh_at_final", true) != true) made["final_act_fn"] = "clamp";
    return made;
  }
  const json &first = In(own, "vocoder"), &second = In(own, "bwe");
  ReadGenerator(first, "", true, file.Find("vocoder.vocoder.conv_pre.weight"), made);
  ReadGenerator(second, "bwe_", true, file.Find("vocoder.bwe_generator.conv_pre.weight"), made);
  Copy(second, {"input_sampling_rate", "output_sampling_rate", "hop_length"}, made);
  if (second.contains("n_fft")) made["filter_length"] = made["window_length"] = second["n_fft"];
  if (second.contains("num_mels")) made["num_mel_channels"] = second["num_mels"];
  return made;
}

}  // namespace

absl::StatusOr<json> ReadFileConfig(const WeightSet& file) {
  const std::string text = file.Metadata("config");
  if (!text.empty()) {
    REEL_ASSIGN_OR_RETURN(json config, ParseJson(text, file.source() + ": config"));
    if (In(config, "transformer").size() > 0) return config;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the file's metadata has no configuration of LTX-2 (config); use the file as it was "
      "released, or a diffusers folder: ",
      file.source()));
}

absl::StatusOr<json> ConfigOfFile(const WeightSet& file, const json& config, FilePart part) {
  switch (part) {
    case FilePart::kTransformer:
      return TransformerConfigOf(file, config);
    case FilePart::kConnectors:
      return ConnectorsConfigOf(file, config);
    case FilePart::kVae:
      return VaeConfigOf(file, config);
    case FilePart::kAudioVae:
      return AudioVaeConfigOf(config);
    case FilePart::kVocoder:
      break;
  }
  return VocoderConfigOf(file, config);
}

SchedulerConfig SchedulerOfFile(std::string_view path) {
  SchedulerConfig config;
  const std::string name = std::filesystem::path(path).filename().string();
  if (absl::AsciiStrToLower(name).find("distilled") != std::string::npos) return config;
  config.use_dynamic_shifting = true;
  config.base_shift = 0.95;
  config.max_shift = 2.05;
  config.base_image_seq_len = 1024;
  config.max_image_seq_len = 4096;
  config.shift_terminal = 0.1;
  return config;
}

}  // namespace reel::model::ltx2
