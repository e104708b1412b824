// SPDX-License-Identifier: Apache-2.0
// The folder of this program, from which an installation's other files are found.
#pragma once

#include <filesystem>

namespace reel::kernels {

// Empty if the system does not say.
std::filesystem::path ProgramFolder();

}  // namespace reel::kernels
