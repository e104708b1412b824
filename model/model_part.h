// SPDX-License-Identifier: Apache-2.0
// Parts of a model whose weights may lie in files of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reel::model {

// The audio autoencoder's file has the vocoder as well.
enum class ModelPart { kTransformer, kVae, kAudioVae, kTextEncoder, kConnectors, kUpsampler };

// One part's weights, as people hold them: GGUF or safetensors.
struct PartFile {
  ModelPart part = ModelPart::kTransformer;
  std::string path;

  friend bool operator==(const PartFile&, const PartFile&) = default;
};

// "transformer", "vae", "audio_vae", "text_encoder", "connectors", "upsampler": as configurations
// and flags say.
std::string_view NameOf(ModelPart part);
std::optional<ModelPart> PartNamed(std::string_view name);
// All of them, for messages.
std::string PartNames();

}  // namespace reel::model
