// SPDX-License-Identifier: Apache-2.0
// The spectrum of a wave as LTX-2's audio autoencoder reads it: logarithms of the magnitudes that
// lie in each of its bins, by Slaney's mel scale.
#pragma once

#include "model/bridge/aten.h"
#include "model/ltx2/audio_vae_config.h"

namespace reel::model::ltx2 {

// `wave` [channels, samples] fp32 at the configuration's rate, on the host, to [1, channels,
// frames, bins]: a frame at each hop, the first at the first sample. Beyond its ends the wave is
// mirrored.
at::Tensor MelSpectrumOf(const at::Tensor& wave, const AudioVaeConfig& config);

}  // namespace reel::model::ltx2
