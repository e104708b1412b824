// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_part.h"

#include <algorithm>

namespace reel::model {
namespace {

constexpr std::array<std::string_view, kAdapterParts.size()> kAdapterPartNames = {
    "video", "audio", "video_to_audio", "audio_to_video", "connectors"};

struct PartWord {
  std::string_view word;
  AdapterPart part;
};
// The first that matches counts: "audio" is also in longer words.
constexpr PartWord kPartWords[] = {{"connector", AdapterPart::kConnectors},
                                   {"text_proj_in", AdapterPart::kConnectors},
                                   {"text_embedding_projection", AdapterPart::kConnectors},
                                   {"video_to_audio", AdapterPart::kVideoToAudio},
                                   {"v2a_gate", AdapterPart::kVideoToAudio},
                                   {"audio_to_video", AdapterPart::kAudioToVideo},
                                   {"a2v_gate", AdapterPart::kAudioToVideo},
                                   {"audio", AdapterPart::kAudio}};

}  // namespace

std::string_view NameOf(AdapterPart part) { return kAdapterPartNames[static_cast<size_t>(part)]; }

std::optional<AdapterPart> AdapterPartNamed(std::string_view name) {
  const auto found = std::find(kAdapterPartNames.begin(), kAdapterPartNames.end(), name);
  if (found == kAdapterPartNames.end()) return std::nullopt;
  return kAdapterParts[static_cast<size_t>(found - kAdapterPartNames.begin())];
}

AdapterPart AdapterPartOfLayer(std::string_view layer) {
  for (const PartWord& known : kPartWords) {
    if (layer.find(known.word) != std::string_view::npos) return known.part;
  }
  return AdapterPart::kVideo;
}

std::vector<AdapterPart> AdapterPartsOf(bool with_sound) {
  if (!with_sound) return {AdapterPart::kVideo};
  return {kAdapterParts.begin(), kAdapterParts.end()};
}

}  // namespace reel::model
