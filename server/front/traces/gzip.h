// SPDX-License-Identifier: Apache-2.0
// Bytes as a gzip stream.
#pragma once

#include <string>

namespace reel::front {

// Empty where there is no memory for it.
std::string Gzip(const std::string& bytes);

}  // namespace reel::front
