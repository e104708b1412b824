// SPDX-License-Identifier: Apache-2.0
// The parts of a model whose share of an adapter has a scale of its own.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace reel::model {

enum class AdapterPart { kVideo, kAudio, kVideoToAudio, kAudioToVideo, kConnectors };
inline constexpr std::array kAdapterParts = {AdapterPart::kVideo, AdapterPart::kAudio,
                                             AdapterPart::kVideoToAudio, AdapterPart::kAudioToVideo,
                                             AdapterPart::kConnectors};

// As requests call it, e.g. "video_to_audio".
std::string_view NameOf(AdapterPart part);
std::optional<AdapterPart> AdapterPartNamed(std::string_view name);

// The part of LTX-2 that a layer belongs to, by its name in any file's spelling; other layers are
// kVideo. Attention from sound to pictures is kAudioToVideo.
AdapterPart AdapterPartOfLayer(std::string_view layer);

// All parts for a model with sound, else kVideo alone.
std::vector<AdapterPart> AdapterPartsOf(bool with_sound);

}  // namespace reel::model
