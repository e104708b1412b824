// SPDX-License-Identifier: Apache-2.0
// Products of codes by libtorch. The variant "e4m3_rows" of linear: with a scale for each row
// and each output; on a CPU "int8_rows" as well, the same of int8. And linear_gelu from codes to
// codes, with one scale for each operand, where its variant "e4m3" is not to be had.
#pragma once

#include <string>

#include "model/bridge/linear_calls.h"

namespace reel::model::aten {

// On a GPU in 8 bits with fp32 sums, a result in bf16 that is then converted; on a CPU, which has
// no such product, the formula in fp32.
void RunE4m3Product(const LinearCall& call);
void RunE4m3Gelu(const LinearGeluCall& call);
void RunInt8Product(const LinearCall& call);
// "": it takes the call.
std::string_view WhyNotE4m3Product(const LinearCall& call);
std::string_view WhyNotInt8Product(const LinearCall& call);

}  // namespace reel::model::aten
