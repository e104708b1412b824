// SPDX-License-Identifier: Apache-2.0
// Checks that the parts of a folder belong together.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "model/ltx2/audio_vae_config.h"
#include "model/ltx2/connectors_config.h"
#include "model/ltx2/transformer_config.h"
#include "model/text/gemma_config.h"
#include "model/vae/diffusion_decoder_config.h"
#include "model/vae/vae_config.h"

namespace reel::model::ltx2 {

// FAILED_PRECONDITION with `folder`, the value and the one that it is to be.
absl::Status CheckVideo(const VaeConfig& vae, const TransformerConfig& transformer,
                        const std::string& folder);
// Both decoders take latents of one kind.
absl::Status CheckDiffusionDecoder(const DiffusionDecoderConfig& decoder, const VaeConfig& vae,
                                   const std::string& folder);
absl::Status CheckSound(const AudioVaeConfig& vae, const TransformerConfig& transformer,
                        const std::string& folder);
absl::Status CheckText(const GemmaConfig& encoder, int64_t vocabulary,
                       const ConnectorsConfig& connectors, const std::string& folder);

}  // namespace reel::model::ltx2
