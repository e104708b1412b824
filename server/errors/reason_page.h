// SPDX-License-Identifier: Apache-2.0
// The page of error reasons in proto/README.md, made from the table so that it cannot be wrong.
#pragma once

#include <string>

namespace reel {

std::string ReasonPage();

}  // namespace reel
