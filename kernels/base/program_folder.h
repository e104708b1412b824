// SPDX-License-Identifier: Apache-2.0
// Where this program lies: what an installation keeps beside it is found from there.
#pragma once

#include <filesystem>

namespace reel::kernels {

// Empty when the system does not tell.
std::filesystem::path ProgramFolder();

}  // namespace reel::kernels
