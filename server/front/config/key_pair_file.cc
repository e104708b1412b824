// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/key_pair_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/read_file.h"
#include "server/front/config/secret_file.h"

namespace reel::front {

absl::StatusOr<KeyPair> ReadKeyPair(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  const std::string line(absl::StripTrailingAsciiWhitespace(text));
  const size_t colon = line.find(':');
  const bool one_line = line.find('\n') == std::string::npos;
  if (!one_line || colon == std::string::npos || colon == 0 || colon + 1 == line.size()) {
    return absl::InvalidArgumentError(absl::StrCat("must have one line, NAME:SECRET: ", path));
  }
  return KeyPair{line.substr(0, colon), line.substr(colon + 1)};
}

}  // namespace reel::front
