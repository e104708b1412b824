// SPDX-License-Identifier: Apache-2.0
// The decode of a clip by the ranks of a group, each some rows of every picture: frames leave in
// order, as from one device.
#pragma once

#include <vector>

#include "model/bridge/rank_crew.h"
#include "model/frames/frame_source.h"
#include "model/vae/vae_decoder.h"

namespace reel::model {

// How many ranks have a part of so many rows of latents, one at least: the first ones of `crew`;
// one where it is null.
int DecodingRanks(const RankCrew* crew, int64_t rows);

// As VaeDecoder::Decode. `decoders` are those of the ranks; they and `crew` are borrowed.
FrameSourcePtr DecodeOnGroup(RankCrew& crew, const std::vector<const VaeDecoder*>& decoders,
                             const Ops& ops, const at::Tensor& latents, const DecodeInputs& inputs);

}  // namespace reel::model
