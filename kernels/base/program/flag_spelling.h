// SPDX-License-Identifier: Apache-2.0
// Forgiveness for how people write flags, before the parser sees them and after it gave up. The
// same in every program, so that what works for one works for all.
#pragma once

#include <string>
#include <vector>

namespace reel {

// Arguments with every flag's name spelt with `separator`, whichever of '-' and '_' it was written
// with: with '-', --num_steps=a_b becomes --num-steps=a_b. Values, and all that follows a lone
// "--", stay.
std::vector<std::string> WithFlagsSpelt(char separator, std::vector<std::string> arguments);

}  // namespace reel
