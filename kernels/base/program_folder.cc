// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program_folder.h"

#include <system_error>

namespace reel::kernels {

std::filesystem::path ProgramFolder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace reel::kernels
