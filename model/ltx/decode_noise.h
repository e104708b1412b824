// SPDX-License-Identifier: Apache-2.0
// Latents as the decoder takes them: conditioned decoders want some noise on them.
#pragma once

#include "model/bridge/aten.h"
#include "model/generation_spec.h"
#include "model/latents/latents.h"
#include "model/ltx/ltx_model.h"

namespace reel::model::ltx {

// The noise of a whole clip, [1, C, F, h, w] on the host.
at::Tensor DrawDecodeNoise(const LtxModel& model, const LatentShape& shape,
                           at::Generator& generator);

// Turns normalised latents [1, C, f, h, w] into the decoder's input. `noise` is undefined for
// decoders that take none.
at::Tensor Decodable(const LtxModel& model, const GenerationSpec& spec, const at::Tensor& latents,
                     const at::Tensor& noise);

}  // namespace reel::model::ltx
