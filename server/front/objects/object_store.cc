// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/object_store.h"

#include <algorithm>

namespace reel::front {
namespace {

constexpr size_t kMostKey = 512;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '~' || c == '-' || c == '/';
}

}  // namespace

bool IsLegalKey(std::string_view key) {
  if (key.empty() || key.size() > kMostKey || key.back() == '/') return false;
  if (!std::all_of(key.begin(), key.end(), IsPlain)) return false;
  // Parts that a server could take for a way out of its folder, or leave out.
  bool at_start = true;
  for (const char c : key) {
    if (at_start && (c == '/' || c == '.')) return false;
    at_start = c == '/';
  }
  return true;
}

}  // namespace reel::front
