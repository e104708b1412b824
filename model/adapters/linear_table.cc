// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/linear_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"

namespace reel::model {
namespace {

struct Renamed {
  absl::string_view folder, original;
};
// Whole words at the front of a name, so that no entry can match inside another.
constexpr std::array<Renamed, 17> kFirstWords = {{
    {"proj_in", "patchify_proj"},
    {"audio_proj_in", "audio_patchify_proj"},
    {"time_embed", "adaln_single"},
    {"audio_time_embed", "audio_adaln_single"},
    {"prompt_adaln", "prompt_adaln_single"},
    {"audio_prompt_adaln", "audio_prompt_adaln_single"},
    {"av_cross_attn_video_scale_shift", "av_ca_video_scale_shift_adaln_single"},
    {"av_cross_attn_audio_scale_shift", "av_ca_audio_scale_shift_adaln_single"},
    {"av_cross_attn_video_a2v_gate", "av_ca_a2v_gate_adaln_single"},
    {"av_cross_attn_audio_v2a_gate", "av_ca_v2a_gate_adaln_single"},
    {"connectors.text_proj_in", "text_embedding_projection.aggregate_embed"},
    {"connectors.video_text_proj_in", "text_embedding_projection.video_aggregate_embed"},
    {"connectors.audio_text_proj_in", "text_embedding_projection.audio_aggregate_embed"},
    {"connectors.video_connector.transformer_blocks",
     "video_embeddings_connector.transformer_1d_blocks"},
    {"connectors.audio_connector.transformer_blocks",
     "audio_embeddings_connector.transformer_1d_blocks"},
    {"connectors.video_connector", "video_embeddings_connector"},
    {"connectors.audio_connector", "audio_embeddings_connector"},
}};

std::string Flat(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

std::string OriginalLinearName(absl::string_view name) {
  for (const Renamed& word : kFirstWords) {
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, word.folder)) continue;
    if (rest.empty() || rest[0] == '.') return absl::StrCat(word.original, rest);
  }
  return std::string(name);
}

absl::Status LinearTable::Add(Names& names, const std::string& name, const LinearLayer& layer) {
  const auto [place, is_new] = names.try_emplace(name, layer);
  if (is_new || place->second == layer) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("two layers of the model have one name: ", name,
                                                    ": ", place->second.name, " and ", layer.name));
}

absl::StatusOr<LinearTable> LinearTable::Of(const std::vector<LinearLayer>& layers) {
  LinearTable table;
  for (const LinearLayer& layer : layers) {
    for (const std::string& name : {layer.name, OriginalLinearName(layer.name)}) {
      REEL_RETURN_IF_ERROR(Add(table.names_, name, layer));
      REEL_RETURN_IF_ERROR(Add(table.flat_names_, Flat(name), layer));
    }
  }
  return table;
}

const LinearLayer* LinearTable::Find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

const LinearLayer* LinearTable::FindFlat(std::string_view name) const {
  const auto found = flat_names_.find(name);
  return found == flat_names_.end() ? nullptr : &found->second;
}

}  // namespace reel::model
