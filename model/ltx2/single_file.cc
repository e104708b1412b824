// SPDX-License-Identifier: Apache-2.0
// Names: what diffusers 0.42.1 makes of them.
#include "model/ltx2/single_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"

namespace reel::model::ltx2 {
namespace {

constexpr absl::string_view kTransformer = "model.diffusion_model.";
constexpr absl::string_view kProjection = "text_embedding_projection.";
constexpr std::array<absl::string_view, 5> kPrefixes = {kTransformer, kProjection, "vae.",
                                                        "audio_vae.", "vocoder."};
constexpr absl::string_view kMeans = "per_channel_statistics.mean-of-means";
constexpr absl::string_view kEncoderBlock = "encoder.down_blocks.";
constexpr absl::string_view kDecoderBlock = "decoder.up_blocks.";

// Takes `before` away from the front, and says whether it was there.
bool Drop(absl::string_view& name, absl::string_view before) {
  return absl::ConsumePrefix(&name, before);
}

// "7.conv.weight" to 7 and ".conv.weight".
std::optional<std::pair<int, absl::string_view>> Numbered(absl::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  int index = 0;
  if (!absl::SimpleAtoi(name.substr(0, dot), &index) || index < 0) return std::nullopt;
  return std::pair(index, name.substr(dot));
}

std::optional<std::string> TransformerName(absl::string_view name) {
  if (!Drop(name, kTransformer) || absl::StrContains(name, "_embeddings_connector.")) {
    return std::nullopt;
  }
  const bool is_audio = Drop(name, "audio_adaln_single.");
  if (is_audio || Drop(name, "adaln_single.")) {
    return absl::StrCat(is_audio ? "audio_time_embed." : "time_embed.", name);
  }
  return absl::StrReplaceAll(
      name, {{"patchify_proj", "proj_in"},
             {"av_ca_video_scale_shift_adaln_single", "av_cross_attn_video_scale_shift"},
             {"av_ca_a2v_gate_adaln_single", "av_cross_attn_video_a2v_gate"},
             {"av_ca_audio_scale_shift_adaln_single", "av_cross_attn_audio_scale_shift"},
             {"av_ca_v2a_gate_adaln_single", "av_cross_attn_audio_v2a_gate"},
             {"scale_shift_table_a2v_ca_video", "video_a2v_cross_attn_scale_shift_table"},
             {"scale_shift_table_a2v_ca_audio", "audio_a2v_cross_attn_scale_shift_table"},
             {"prompt_adaln_single", "prompt_adaln"},
             {"q_norm", "norm_q"},
             {"k_norm", "norm_k"}});
}

std::optional<std::string> ConnectorsName(absl::string_view name) {
  if (Drop(name, kProjection)) {
    return absl::StrReplaceAll(name, {{"video_aggregate_embed", "video_text_proj_in"},
                                      {"audio_aggregate_embed", "audio_text_proj_in"},
                                      {"aggregate_embed", "text_proj_in"}});
  }
  if (!Drop(name, kTransformer) || !absl::StrContains(name, "_embeddings_connector.")) {
    return std::nullopt;
  }
  return absl::StrReplaceAll(name, {{"video_embeddings_connector.", "video_connector."},
                                    {"audio_embeddings_connector.", "audio_connector."},
                                    {"transformer_1d_blocks", "transformer_blocks"},
                                    {"q_norm", "norm_q"},
                                    {"k_norm", "norm_k"}});
}

// Blocks and the changes of size between them are one list in a file.
std::string EncoderBlock(int index, int last) {
  if (index == last) return "encoder.mid_block";
  return absl::StrCat("encoder.down_blocks.", index / 2, index % 2 == 1 ? ".downsamplers.0" : "");
}
std::string DecoderBlock(int index) {
  if (index == 0) return "decoder.mid_block";
  return absl::StrCat("decoder.up_blocks.", (index - 1) / 2, index % 2 == 1 ? ".upsamplers.0" : "");
}

std::optional<std::string> StatisticsName(absl::string_view name) {
  if (name == "per_channel_statistics.mean-of-means") return "latents_mean";
  if (name == "per_channel_statistics.std-of-means") return "latents_std";
  return std::nullopt;
}

std::optional<std::string> VaeName(absl::string_view name, int last_encoder_block) {
  if (!Drop(name, "vae.")) return std::nullopt;
  if (absl::StartsWith(name, "per_channel_statistics.")) return StatisticsName(name);
  std::string renamed(name);
  absl::string_view rest = name;
  if (Drop(rest, kEncoderBlock)) {
    if (const auto block = Numbered(rest)) {
      renamed = absl::StrCat(EncoderBlock(block->first, last_encoder_block), block->second);
    }
  } else if (Drop(rest, kDecoderBlock)) {
    if (const auto block = Numbered(rest)) {
      renamed = absl::StrCat(DecoderBlock(block->first), block->second);
    }
  }
  return absl::StrReplaceAll(renamed, {{"res_blocks", "resnets"}});
}

std::optional<std::string> AudioVaeName(absl::string_view name) {
  if (!Drop(name, "audio_vae.")) return std::nullopt;
  if (absl::StartsWith(name, "per_channel_statistics.")) return StatisticsName(name);
  return std::string(name);
}

std::optional<std::string> VocoderName(absl::string_view name) {
  if (!Drop(name, "vocoder.")) return std::nullopt;
  return absl::StrReplaceAll(name, {{"ups.", "upsamplers."},
                                    {"resblocks.", "resnets."},
                                    {"conv_pre.", "conv_in."},
                                    {"conv_post.", "conv_out."},
                                    {"act_post.", "act_out."},
                                    {"downsample.lowpass.", "downsample."}});
}

bool HasEither(const WeightSet& file, absl::string_view prefix, absl::string_view name) {
  return file.Find(std::string(name)) != nullptr ||
         file.Find(absl::StrCat(prefix, name)) != nullptr;
}

absl::string_view PrefixOf(FilePart part) {
  switch (part) {
    case FilePart::kTransformer:
    case FilePart::kConnectors:
      return kTransformer;
    case FilePart::kVae:
      return "vae.";
    case FilePart::kAudioVae:
    case FilePart::kVocoder:
      break;
  }
  return "audio_vae.";  // a file of both has the vocoder's own prefix
}

int LastEncoderBlock(const WeightSet& file) {
  int last = -1;
  for (const auto& [name, tensor] : file.tensors()) {
    absl::string_view rest = name;
    if (!Drop(rest, "vae.") || !Drop(rest, kEncoderBlock)) continue;
    if (const auto block = Numbered(rest)) last = std::max(last, block->first);
  }
  return last;
}

}  // namespace

PartNames NamesOf(FilePart part) {
  switch (part) {
    case FilePart::kTransformer:
      return {"transformer", "transformer"};
    case FilePart::kConnectors:
      return {"connectors", "connectors"};
    case FilePart::kVae:
      return {"vae", "video autoencoder"};
    case FilePart::kAudioVae:
      return {"audio_vae", "audio autoencoder"};
    case FilePart::kVocoder:
      break;
  }
  return {"vocoder", "vocoder"};
}

bool IsLtx2File(const WeightSet& file) {
  return HasEither(file, kTransformer,
                   "av_ca_a2v_gate_adaln_single.emb.timestep_embedder.linear_1.weight");
}

bool HasReleasedNames(const WeightSet& file, FilePart part) {
  const auto any = [&file](absl::string_view text) {
    return std::any_of(file.tensors().begin(), file.tensors().end(),
                       [text](const auto& entry) { return absl::StrContains(entry.first, text); });
  };
  switch (part) {
    case FilePart::kTransformer:
      return HasEither(file, kTransformer, "patchify_proj.weight");
    case FilePart::kConnectors:
      return any("_embeddings_connector.") || any(kProjection);
    case FilePart::kVae:
      return HasEither(file, "vae.", kMeans);
    case FilePart::kAudioVae:
      return HasEither(file, "audio_vae.", kMeans);
    case FilePart::kVocoder:
      break;
  }
  return any("vocoder.");
}

absl::StatusOr<WeightSet> WithPrefixes(const WeightSet& file, FilePart part) {
  if (!HasReleasedNames(file, part)) return file;
  const absl::string_view own = PrefixOf(part);
  return file.Renamed([own](const std::string& name) -> std::optional<std::string> {
    for (const absl::string_view known : kPrefixes) {
      if (absl::StartsWith(name, known)) return name;
    }
    return absl::StrCat(own, name);
  });
}

std::optional<std::string> NameInFolder(FilePart part, const std::string& original,
                                        int last_encoder_block) {
  switch (part) {
    case FilePart::kTransformer:
      return TransformerName(original);
    case FilePart::kConnectors:
      return ConnectorsName(original);
    case FilePart::kVae:
      return VaeName(original, last_encoder_block);
    case FilePart::kAudioVae:
      return AudioVaeName(original);
    case FilePart::kVocoder:
      break;
  }
  return VocoderName(original);
}

absl::StatusOr<WeightSet> WeightsOfFile(const WeightSet& file, FilePart part) {
  const int last = LastEncoderBlock(file);
  REEL_ASSIGN_OR_RETURN(WeightSet weights, file.Renamed([part, last](const std::string& original) {
    return NameInFolder(part, original, last);
  }));
  if (!weights.tensors().empty()) return weights;
  return absl::FailedPreconditionError(
      absl::StrCat("the file has no ", NamesOf(part).words,
                   "; give the file that holds all parts, or a diffusers folder: ", file.source()));
}

}  // namespace reel::model::ltx2
