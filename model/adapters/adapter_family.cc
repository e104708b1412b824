// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_family.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/adapters/adapter_error.h"

namespace reel::model {
namespace {

constexpr int64_t kWidthOf2b = 2048, kWidthOf13b = 4096;

// Names the model that the file's layers fit. LTX-2's video stream has the shapes of the 13B.
std::string ModelOf(const std::vector<AdapterPair>& pairs) {
  bool has_sound = false, is_22b = false;
  int64_t width = 0;
  for (const AdapterPair& pair : pairs) {
    const absl::string_view layer = pair.stem.layer;
    for (const char* part : {"audio_", "video_to_audio", "audio_to_video", "av_ca", "av_cross"}) {
      has_sound |= absl::StrContains(layer, part);
    }
    is_22b |=
        absl::StrContains(layer, "to_gate_logits") || absl::StrContains(layer, "prompt_adaln");
    if (absl::EndsWith(layer, "attn1.to_q") || absl::EndsWith(layer, "attn1_to_q")) {
      if (!absl::StrContains(layer, "audio")) width = pair.product.down->shape[1];
    }
  }
  if (is_22b) return "LTX-2 22B";
  if (has_sound) return "LTX-2";
  if (width == kWidthOf2b) return "LTX-Video 2B";
  return width == kWidthOf13b ? "LTX-Video 13B, or the pictures of LTX-2" : "";
}

// "ltx-2b" is an LTX-Video of two billion parameters.
bool SaysLtx2(absl::string_view text) {
  for (const absl::string_view name : {"ltx2", "ltx-2", "ltx_2", "ltx 2", "ltxv2", "ltxav"}) {
    const size_t at = text.find(name);
    if (at != absl::string_view::npos && !absl::StartsWith(text.substr(at + name.size()), "b")) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string FamilyHint(const std::vector<AdapterPair>& pairs) {
  const std::string model = ModelOf(pairs);
  return model.empty() ? "" : absl::StrCat("; the adapter seems to be for ", model);
}

absl::Status CheckFamily(const WeightFile& file, AdapterFamily family) {
  for (const char* key : {"modelspec.architecture", "ss_base_model_version"}) {
    const auto found = file.header().metadata.find(key);
    if (found == file.header().metadata.end()) continue;
    const std::string says = absl::AsciiStrToLower(found->second);
    if (!absl::StrContains(says, "ltx")) continue;
    const bool is_ltx2 = SaysLtx2(says);
    if (is_ltx2 == (family == AdapterFamily::kLtx2)) continue;
    return AdapterError(file.path(), key,
                        is_ltx2 ? "the adapter is for LTX-2, the model is an LTX-Video"
                                : "the adapter is for LTX-Video, the model is an LTX-2");
  }
  return absl::OkStatus();
}

}  // namespace reel::model
