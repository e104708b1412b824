// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/legal_name.h"

#include <algorithm>

namespace reel::front {

bool IsLegalName(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return alphanumeric(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return alphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace reel::front
