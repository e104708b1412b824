// SPDX-License-Identifier: Apache-2.0
// A rank's part of a call's inputs: of its rows its tokens of the pictures, all of the sound, and
// the texts.
#pragma once

#include "model/ltx2/block_walk.h"
#include "model/ltx2/transformer.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model::ltx2 {

// What a rank has of a call.
struct RankPart {
  RankTokens tokens;  // of the pictures
  RowRange rows;

  bool is_empty() const { return tokens.own().count == 0; }
};

// Of inputs on the first rank's device, on that of the part's rank. Copies are asked for and not
// awaited.
VelocityInputs PartOf(const VelocityInputs& all, const RankPart& part);
// The same of tokens at a block.
TokensAt PartOf(const TokensAt& all, const RankPart& part);

}  // namespace reel::model::ltx2
