// SPDX-License-Identifier: Apache-2.0
// Converts to abseil's string_view: Debian's abseil has one of its own, which its functions on
// strings need.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace reel::kernels {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace reel::kernels
