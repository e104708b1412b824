// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/legal_name.h"

#include <algorithm>

namespace reel::front {

namespace {

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool IsLegalName(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  return IsAlphanumeric(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

bool IsLegalReplica(std::string_view replica) {
  return !replica.empty() && replica.size() <= 16 &&
         std::all_of(replica.begin(), replica.end(), IsAlphanumeric);
}

}  // namespace reel::front
