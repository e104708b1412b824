// SPDX-License-Identifier: Apache-2.0
// Accepts '-' and '_' in flags alike, in every program.
#pragma once

#include <string>
#include <vector>

namespace reel {

// Arguments with every flag's name spelt with `separator` instead of '-' or '_': with '-',
// --num_steps=a_b becomes --num-steps=a_b. Values, and everything after a lone "--", stay.
std::vector<std::string> WithFlagsSpelt(char separator, std::vector<std::string> arguments);

}  // namespace reel
