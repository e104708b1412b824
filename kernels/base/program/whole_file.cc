// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/whole_file.h"

#include <array>
#include <fstream>

namespace reel {

std::optional<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes;
  std::array<char, 1 << 16> some;
  do {
    file.read(some.data(), some.size());
    bytes.append(some.data(), static_cast<size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return std::nullopt;
  return bytes;
}

}  // namespace reel
