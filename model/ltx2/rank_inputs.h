// SPDX-License-Identifier: Apache-2.0
// A rank's part of a call's inputs: its tokens of the pictures, all of the sound, and the texts.
#pragma once

#include "model/ltx2/block_walk.h"
#include "model/ltx2/transformer.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model::ltx2 {

// Of inputs on the first rank's device, on that of the part's rank. Copies are asked for and not
// awaited.
VelocityInputs PartOf(const VelocityInputs& all, const RankTokens& part);
// The same of tokens at a block.
TokensAt PartOf(const TokensAt& all, const RankTokens& part);

}  // namespace reel::model::ltx2
