// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/small_file.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/aten.h"
#include "model/ltx2/single_file.h"
#include "model/weights/json_file.h"
#include "tests/fakes/scaled_codes.h"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;

// Of the tests' small folder, in the words of a file.
json SmallConfig(const TinyFolder& folder) {
  const json own = *ReadJsonFile(folder.path() + "/transformer/config.json");
  json transformer = {
      {"frequencies_precision", "float64"},      {"apply_gated_attention", true},
      {"cross_attention_adaln", true},           {"caption_proj_before_connector", true},
      {"av_ca_timestep_scale_multiplier", 1000}, {"connector_num_attention_heads", 4},
      {"connector_attention_head_dim", 12},      {"audio_connector_attention_head_dim", 8},
      {"connector_apply_gated_attention", true}, {"connector_positional_embedding_max_pos", {64}}};
  for (const auto& [key, value] : own.items()) {
    if (value.is_number()) transformer[key] = value;
  }
  for (const char* key : {"ff_bias", "use_keyframes_abs_pos_embedding"}) {  // of 2.5
    if (own.contains(key)) transformer[key] = own[key];
  }
  const json res = {"res_x", {{"num_layers", 1}}};
  const auto change = [](const char* kind, int multiplier) {
    return json{kind, {{"multiplier", multiplier}}};
  };
  const json vae = {
      {"latent_channels", 8},
      {"timestep_conditioning", false},
      {"spatial_padding_mode", "zeros"},
      {"encoder_blocks",
       json::array({res, change("compress_space_res", 1), res, change("compress_time_res", 2), res,
                    change("compress_all_res", 2), res, change("compress_all_res", 1), res})},
      {"decoder_blocks",
       json::array({res, change("compress_space", 2), res, change("compress_time", 2), res,
                    change("compress_all", 1), res, change("compress_all", 2), res})}};
  const json sizes = {{"ch", 8}, {"num_res_blocks", 1}, {"z_channels", 2}, {"mel_bins", 16}};
  const json wave = *ReadJsonFile(folder.path() + "/vocoder/config.json");
  const auto generator = [&wave](const std::string& prefix) {
    return json{{"upsample_initial_channel", wave[prefix + "hidden_channels"]},
                {"upsample_rates", wave[prefix + "upsample_factors"]},
                {"upsample_kernel_sizes", wave[prefix + "upsample_kernel_sizes"]},
                {"resblock_kernel_sizes", wave[prefix + "resnet_kernel_sizes"]},
                {"resblock_dilation_sizes", wave[prefix + "resnet_dilations"]},
                {"activation", "snakebeta"},
                {"use_bias_at_final", false}};
  };
  json second = generator("bwe_");
  second.update({{"n_fft", wave["filter_length"]},
                 {"hop_length", wave["hop_length"]},
                 {"num_mels", wave["num_mel_channels"]},
                 {"input_sampling_rate", 16000},
                 {"output_sampling_rate", 48000}});
  return {{"transformer", transformer},
          {"vae", vae},
          {"audio_vae", {{"model", {{"params", {{"ddconfig", sizes}}}}}}},
          {"vocoder", {{"vocoder", generator("")}, {"bwe", second}}}};
}

}  // namespace

std::string SmallFile(const TinyFolder& folder, const json& released, Linears linears) {
  json header;
  header["__metadata__"] = {{"config", SmallConfig(folder).dump()}, {"model_version", "2.3"}};
  std::string data;
  for (const auto& [part, name] :
       {std::pair(FilePart::kTransformer, "transformer"), std::pair(FilePart::kVae, "vae"),
        std::pair(FilePart::kConnectors, "connectors"), std::pair(FilePart::kVocoder, "vocoder"),
        std::pair(FilePart::kAudioVae, "audio_vae")}) {
    const auto weights =
        WeightSet::OpenFolder(folder.path() + "/" + name, "diffusion_pytorch_model");
    size_t placed = 0;
    for (const auto& [original, shape] : released.items()) {
      const auto in_folder = NameInFolder(part, original, 8);
      const StoredTensor* const tensor = in_folder ? weights->Find(*in_folder) : nullptr;
      if (tensor == nullptr) continue;
      ++placed;
      const auto add = [&](const std::string& added, std::string_view type,
                           const std::vector<int64_t>& sides, std::string_view bytes) {
        const size_t begin = data.size();
        data.append(bytes);
        header[added] = {{"dtype", type}, {"shape", sides}, {"data_offsets", {begin, data.size()}}};
      };
      const std::string_view bytes(reinterpret_cast<const char*>(tensor->bytes().data()),
                                   tensor->bytes().size());
      const std::vector<int64_t>& sides = tensor->entry->shape;
      const bool is_linear = part == FilePart::kTransformer && sides.size() == 2 &&
                             original.ends_with(".weight") &&
                             original.find(".transformer_blocks.") != std::string::npos;
      if (!is_linear || linears == Linears::kF32) {
        add(original, NameOf(tensor->entry->type), sides, bytes);
        continue;
      }
      at::Tensor values = at::empty(sides, at::kFloat);
      std::memcpy(values.data_ptr(), bytes.data(), bytes.size());
      const ScaledCodes scaled = ScaledCodesOf(values);
      if (linears == Linears::kRoundedToScaled) {
        add(original, "F32", sides,
            {static_cast<const char*>(scaled.values.data_ptr()), scaled.values.nbytes()});
        continue;
      }
      add(original, "F8_E4M3", sides, scaled.codes);
      add(original + "_scale", "F32", {}, BytesOfFloats({scaled.scale}));
    }
    EXPECT_EQ(placed, weights->tensors().size()) << name;
  }
  return SafetensorsBytes(header.dump(), data);
}

}  // namespace reel::model::ltx2
