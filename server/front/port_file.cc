// SPDX-License-Identifier: Apache-2.0
#include "server/front/port_file.h"

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace reel::front {

std::string AddressLine(const std::string& name, const std::string& address) {
  return address.empty() ? "" : absl::StrCat(name, "=", address, "\n");
}

absl::Status WritePortFile(const std::string& path, const std::string& text) {
  const std::string draft = path + ".part";
  std::ofstream(draft) << text;
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The port file cannot be written: ", path));
  }
  return absl::OkStatus();
}

}  // namespace reel::front
