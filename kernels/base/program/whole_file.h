// SPDX-License-Identifier: Apache-2.0
// Reads a file whole.
#pragma once

#include <optional>
#include <string>

namespace reel {

// Empty where the file is not there or cannot be read: it is a folder, its disk fails, or it is
// about a process that has ended. A stream's iterators would throw in these cases.
std::optional<std::string> ReadWholeFile(const std::string& path);

}  // namespace reel
