// SPDX-License-Identifier: Apache-2.0
// The layout of LTX-2's video autoencoder, AutoencoderKLLTX2Video of diffusers, for model/vae.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/vae/vae_config.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// How many pixels of a side, and how many frames, one latent stands for in every release.
inline constexpr int64_t kPixelsOfALatent = 32, kFramesOfALatent = 8;

// Keys that are missing take the class's defaults. FAILED_PRECONDITION names the key that is not
// known or not supported.
absl::StatusOr<VaeConfig> ReadVideoVaeConfig(const nlohmann::json& json, const std::string& source);

// The fewest latents that a picture may have on each side: the decoder of 2.0 reflects pictures.
inline int64_t LeastLatentSide(const VaeConfig& config) { return config.decoder_reflects ? 2 : 1; }

}  // namespace reel::model::ltx2
