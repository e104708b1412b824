// SPDX-License-Identifier: Apache-2.0
// Makes the page of error reasons, proto/README.md, from the table.
#pragma once

#include <string>

namespace reel {

std::string ReasonPage();

}  // namespace reel
