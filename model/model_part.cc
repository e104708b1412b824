// SPDX-License-Identifier: Apache-2.0
#include "model/model_part.h"

#include <array>

namespace reel::model {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 6> kPartNames = {"transformer",  "vae",        "audio_vae",
                                                        "text_encoder", "connectors", "upsampler"};

}  // namespace

std::string_view NameOf(ModelPart part) { return kPartNames[static_cast<size_t>(part)]; }

std::optional<ModelPart> PartNamed(std::string_view name) {
  for (size_t i = 0; i < kPartNames.size(); ++i) {
    if (kPartNames[i] == name) return static_cast<ModelPart>(i);
  }
  return std::nullopt;
}

std::string PartNames() {
  std::string all;
  for (const std::string_view name : kPartNames) {
    if (!all.empty()) all += ", ";
    all += name;
  }
  return all;
}

}  // namespace reel::model
