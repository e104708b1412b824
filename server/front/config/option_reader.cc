// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/option_reader.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "kernels/base/program/nearest_name.h"

namespace reel::front {

void OptionReader::Problem(const std::string& key, const std::string& what) {
  problems_.push_back(absl::StrCat(key, ": ", what));
}

Address OptionReader::ReadAddress(const std::string& key, const std::string& text) {
  auto address = ParseAddress(text);
  if (address.ok()) return *address;
  Problem(key, std::string(address.status().message()));
  return {};
}

void OptionReader::OneOf(const std::string& key, const std::string& value,
                         const std::vector<std::string>& legal) {
  if (std::find(legal.begin(), legal.end(), value) != legal.end()) return;
  const std::string nearest = NearestName(value, legal);
  Problem(key, absl::StrCat("must be one of ", absl::StrJoin(legal, ", "), ": '", value, "'",
                            nearest.empty() ? "" : "; the nearest is '" + nearest + "'"));
}

}  // namespace reel::front
