// SPDX-License-Identifier: Apache-2.0
// A tiny LTX-2 in one file, as releases are: the values of a folder under the names of a file.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "tests/fakes/tiny_ltx2.h"

namespace reel::model::ltx2 {

enum class Linears { kF32, kScaled, kRoundedToScaled };

// The folder's values under the released names that stand for theirs, `released` by name; the
// linear layers of the transformer's blocks also in 8 bits.
std::string SmallFile(const TinyFolder& folder, const nlohmann::json& released,
                      Linears linears = Linears::kF32);

}  // namespace reel::model::ltx2
