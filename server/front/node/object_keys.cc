// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/object_keys.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reel::front {
namespace {

constexpr char kFile[] = ".mp4";
constexpr char kState[] = ".state";

}  // namespace

std::string MediaPrefix(const std::string& fleet) { return absl::StrCat(fleet, "/media/"); }
std::string ConditionPrefix(const std::string& fleet) {
  return absl::StrCat(fleet, "/conditions/");
}

std::string MediaKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch) {
  return absl::StrCat(MediaPrefix(fleet), tenant, "/", id, "/", epoch, kFile);
}

std::string StateKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch) {
  return absl::StrCat(MediaPrefix(fleet), tenant, "/", id, "/", epoch, kState);
}

std::string ConditionKey(const std::string& fleet, const std::string& tenant,
                         const std::string& name) {
  return absl::StrCat(ConditionPrefix(fleet), tenant, "/", name);
}

std::vector<std::string> ConditionKeys(const Seal& seal, const std::string& fleet,
                                       const std::string& tenant, const std::string& sha256) {
  std::vector<std::string> keys;
  for (const std::string& name : seal.NamesFor("condition/" + tenant, sha256)) {
    keys.push_back(ConditionKey(fleet, tenant, name));
  }
  return keys;
}

std::optional<MediaPlace> ReadMediaKey(const std::string& fleet, const std::string& key) {
  absl::string_view rest = key;
  if (!absl::ConsumePrefix(&rest, MediaPrefix(fleet))) return std::nullopt;
  MediaPlace place;
  place.is_state = absl::ConsumeSuffix(&rest, kState);
  if (!place.is_state && !absl::ConsumeSuffix(&rest, kFile)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(rest, '/');
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &place.epoch)) return std::nullopt;
  place.tenant = parts[0];
  place.id = parts[1];
  const auto key_of = place.is_state ? StateKey : MediaKey;
  if (key_of(fleet, place.tenant, place.id, place.epoch) != key) return std::nullopt;
  return place;
}

}  // namespace reel::front
