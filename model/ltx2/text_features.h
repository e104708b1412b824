// SPDX-License-Identifier: Apache-2.0
// Norms of the text encoder's hidden states, which the connectors' first projection takes. In the
// states' own type, with the reference's roundings.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model::ltx2 {

// `states` [B, n, C, layers + 1] of tokens that count, to [B, n, C * (layers + 1)], the layer fast.

// From 2.3 on: each token and layer by the root of its mean square.
at::Tensor TokenNorms(const at::Tensor& states);
// 2.0: each text and layer by its mean and its range, to a range of 8.
at::Tensor RangeNorms(const at::Tensor& states);

}  // namespace reel::model::ltx2
