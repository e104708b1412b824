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

// The part that a layer belongs to, by its name in any spelling of files (LTX-2's; all others are
// kVideo). Layers of the attention from sound to pictures are kAudioToVideo.
AdapterPart AdapterPartOfLayer(std::string_view layer);

// The parts that models have: with sound all of them, else the pictures' alone.
std::vector<AdapterPart> AdapterPartsOf(bool with_sound);

}  // namespace reel::model
