// SPDX-License-Identifier: Apache-2.0
// The addresses where a server listens, in a file for scripts that let the system choose ports.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reel::front {

// A line of it; nothing of what is not there.
std::string AddressLine(const std::string& name, const std::string& address);

// Readers never see half of it.
absl::Status WritePortFile(const std::string& path, const std::string& text);

}  // namespace reel::front
