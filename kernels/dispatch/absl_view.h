// SPDX-License-Identifier: Apache-2.0
// Debian's abseil has a string_view of its own; its functions on strings take no other.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace reel::kernels {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace reel::kernels
