// SPDX-License-Identifier: Apache-2.0
// qk_norm_rope on a CPU in one pass over each row, by all threads that libtorch has: op by op it is
// a dozen passes.
#pragma once

#include <string>

#include "model/bridge/framework_calls.h"

namespace reel::model::aten {

void RunByRows(const QkNormRopeCall& call);
// "": it can be had.
std::string_view WhyNotByRows(const QkNormRopeCall& call);

}  // namespace reel::model::aten
