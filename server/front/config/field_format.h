// SPDX-License-Identifier: Apache-2.0
// The formats of the configuration's texts (proto/reel/config/v1/rules.proto).
#pragma once

#include <string>
#include <vector>

#include "reel/config/v1/rules.pb.h"

namespace reel::front {

// Says what is wrong, with `text` behind it; empty: nothing is. `longest` bounds a name's
// characters; 0: as for all names.
std::string WrongFormat(config::v1::Format format, const std::string& text, int longest = 0);

// Empty: `text` is one of `legal`; else what is wrong, with the nearest of them.
std::string NotOneOf(const std::string& text, const std::vector<std::string>& legal);

}  // namespace reel::front
