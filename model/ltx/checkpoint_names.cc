// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/checkpoint_names.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "kernels/base/status_macros.h"

namespace reel::model::ltx {
namespace {

// Where the block of index i of the original's flat list lives in diffusers' tree.
constexpr std::array<std::string_view, 10> kDecoder090 = {
    "mid_block",   "up_blocks.0",         "up_blocks.1.upsamplers.0",
    "up_blocks.1", "up_blocks.2.conv_in", "up_blocks.2.upsamplers.0",
    "up_blocks.2", "up_blocks.3.conv_in", "up_blocks.3.upsamplers.0",
    "up_blocks.3",
};
constexpr std::array<std::string_view, 7> kDecoder091 = {
    "mid_block",   "up_blocks.0.upsamplers.0", "up_blocks.0", "up_blocks.1.upsamplers.0",
    "up_blocks.1", "up_blocks.2.upsamplers.0", "up_blocks.2",
};
constexpr std::array<std::string_view, 10> kEncoder090 = {
    "down_blocks.0", "down_blocks.0.downsamplers.0", "down_blocks.0.conv_out",
    "down_blocks.1", "down_blocks.1.downsamplers.0", "down_blocks.1.conv_out",
    "down_blocks.2", "down_blocks.2.downsamplers.0", "down_blocks.3",
    "mid_block",
};
constexpr std::array<std::string_view, 9> kEncoder095 = {
    "down_blocks.0", "down_blocks.0.downsamplers.0",
    "down_blocks.1", "down_blocks.1.downsamplers.0",
    "down_blocks.2", "down_blocks.2.downsamplers.0",
    "down_blocks.3", "down_blocks.3.downsamplers.0",
    "mid_block",
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Puts the block's new name in place of "<prefix><index>"; false: no such block.
bool RenameBlock(std::string& name, std::string_view prefix,
                 absl::Span<const std::string_view> blocks) {
  if (name.compare(0, prefix.size(), prefix) != 0) return true;
  const size_t dot = name.find('.', prefix.size());
  if (dot == std::string::npos || dot == prefix.size() || dot > prefix.size() + 2) return false;
  size_t index = 0;
  for (size_t i = prefix.size(); i < dot; ++i) {
    if (name[i] < '0' || name[i] > '9') return false;
    index = index * 10 + static_cast<size_t>(name[i] - '0');
  }
  if (index >= blocks.size()) return false;
  const size_t side = prefix.find('.') + 1;  // behind "decoder." or "encoder."
  name.replace(side, dot - side, std::string(blocks[index]));
  return true;
}

}  // namespace

std::string_view NameOf(CheckpointVersion version) {
  switch (version) {
    case CheckpointVersion::k090:
      return "0.9.0";
    case CheckpointVersion::k091:
      return "0.9.1";
    case CheckpointVersion::k095:
      return "0.9.5";
    case CheckpointVersion::k097:
      return "0.9.7";
  }
  return "unknown";
}

absl::StatusOr<CheckpointVersion> DetectVersion(const WeightSet& file) {
  bool is_ltx = file.Find("vae.decoder.last_scale_shift_table") != nullptr ||
                file.Find("vae.decoder.up_blocks.9.res_blocks.0.conv1.conv.weight") != nullptr;
  bool is_13b = false, is_ltx2 = false;
  for (const std::string prefix : {"", "model.diffusion_model."}) {
    const auto has = [&](const char* key) { return file.Find(prefix + key) != nullptr; };
    is_13b |= has("transformer_blocks.47.scale_shift_table");
    is_ltx2 |= has("audio_patchify_proj.weight");
    is_ltx |= has("patchify_proj.weight") || has("transformer_blocks.27.scale_shift_table");
  }
  if (is_ltx2 || (!is_ltx && !is_13b)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file is not an LTX-Video checkpoint: ", file.source()));
  }
  if (is_13b) return CheckpointVersion::k097;
  const StoredTensor* conv_out = file.Find("vae.encoder.conv_out.conv.weight");
  if (conv_out != nullptr && conv_out->entry->shape.size() > 1 &&
      conv_out->entry->shape[1] == 2048) {
    return CheckpointVersion::k095;
  }
  // The rearranging down-sampler of those releases, whatever the widths.
  if (file.Find("vae.encoder.down_blocks.1.conv.conv.weight") != nullptr) {
    return CheckpointVersion::k095;
  }
  if (file.Find("vae.decoder.last_time_embedder.timestep_embedder.linear_1.weight") != nullptr) {
    return CheckpointVersion::k091;
  }
  return CheckpointVersion::k090;
}

std::optional<std::string> TransformerName(const std::string& original) {
  if (Contains(original, "vae")) return std::nullopt;
  std::string name = original;
  if (name.compare(0, kTransformerPrefix.size(), kTransformerPrefix) == 0) {
    name.erase(0, kTransformerPrefix.size());
  }
  return absl::StrReplaceAll(name, {{"patchify_proj", "proj_in"},
                                    {"adaln_single", "time_embed"},
                                    {"q_norm", "norm_q"},
                                    {"k_norm", "norm_k"}});
}

std::optional<std::string> VaeName(const std::string& original, CheckpointVersion version) {
  if (original.compare(0, kVaePrefix.size(), kVaePrefix) != 0) return std::nullopt;
  std::string name = original.substr(kVaePrefix.size());
  if (Contains(name, "per_channel_statistics.channel") ||
      Contains(name, "per_channel_statistics.mean-of-stds")) {
    return std::nullopt;
  }
  const bool is_090 = version == CheckpointVersion::k090;
  const bool is_old_encoder = is_090 || version == CheckpointVersion::k091;
  const bool known =
      RenameBlock(name, "decoder.up_blocks.",
                  is_090 ? absl::MakeConstSpan(kDecoder090) : absl::MakeConstSpan(kDecoder091)) &&
      RenameBlock(
          name, "encoder.down_blocks.",
          is_old_encoder ? absl::MakeConstSpan(kEncoder090) : absl::MakeConstSpan(kEncoder095));
  if (!known) return name;  // kept: the loader names it as one tensor too many
  name = absl::StrReplaceAll(name, {{"conv_shortcut", "conv_shortcut.conv"},
                                    {"res_blocks", "resnets"},
                                    {"norm3.norm", "norm3"},
                                    {"per_channel_statistics.mean-of-means", "latents_mean"},
                                    {"per_channel_statistics.std-of-means", "latents_std"}});
  if (is_090) return name;
  return absl::StrReplaceAll(name, {{"last_time_embedder", "time_embedder"},
                                    {"last_scale_shift_table", "scale_shift_table"}});
}

absl::StatusOr<WeightSet> TransformerOf(const WeightSet& file) {
  return file.Renamed(TransformerName);
}

absl::StatusOr<WeightSet> VaeOf(const WeightSet& file, CheckpointVersion version) {
  return file.Renamed(
      [version](const std::string& original) { return VaeName(original, version); });
}

}  // namespace reel::model::ltx
