// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/field_format.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/program/nearest_name.h"
#include "server/front/config/address.h"
#include "server/front/config/collector_address.h"
#include "server/front/config/legal_name.h"

namespace reel::front {
namespace {

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool AreRegionChars(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

// As S3 has it, so that it needs no encoding in a URL.
bool IsBucket(const std::string& name) {
  const auto is_edge = [](char c) { return c == '.' || c == '-'; };
  return name.size() >= 3 && name.size() <= 63 &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; }) &&
         !is_edge(name.front()) && !is_edge(name.back()) && !absl::StrContains(name, "..");
}

bool IsOrigin(const std::string& text) {
  return (absl::StartsWith(text, "http://") || absl::StartsWith(text, "https://")) &&
         !absl::EndsWith(text, "/");
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string Unless(bool fits, const std::string& rule, const std::string& text) {
  return fits ? "" : absl::StrCat("must be ", rule, ": '", text, "'");
}

std::string WrongName(const std::string& name, int longest) {
  const bool fits = IsLegalName(name) && (longest == 0 || static_cast<int>(name.size()) <= longest);
  return Unless(fits,
                absl::StrCat("1..", longest == 0 ? 63 : longest,
                             " of a-z, 0-9, '.', '_', '-', the first a letter or digit"),
                name);
}

}  // namespace

std::string WrongFormat(config::v1::Format format, const std::string& text, int longest) {
  switch (format) {
    case config::v1::FORMAT_NAME:
      return WrongName(text, longest);
    case config::v1::FORMAT_REPLICA:
      return Unless(IsLegalReplica(text), "1 to 16 of a-z and 0-9", text);
    case config::v1::FORMAT_ADDRESS:
      return std::string(ParseAddress(text).status().message());
    case config::v1::FORMAT_ORIGIN:
      return Unless(IsOrigin(text), "SCHEME://HOST[:PORT] without a path", text);
    case config::v1::FORMAT_COLLECTOR:
      return std::string(ParseCollectorAddress(text).status().message());
    case config::v1::FORMAT_SHA256:
      return Unless(IsSha256(text), "64 lower-case hex digits", text);
    case config::v1::FORMAT_BUCKET:
      return Unless(IsBucket(text), "3 to 63 of a-z, 0-9, '.' and '-'", text);
    case config::v1::FORMAT_REGION:
      return Unless(text.size() <= 32 && AreRegionChars(text), "1 to 32 of a-z, 0-9 and '-'", text);
    default:
      return "";
  }
}

std::string NotOneOf(const std::string& text, const std::vector<std::string>& legal) {
  if (std::find(legal.begin(), legal.end(), text) != legal.end()) return "";
  const std::string nearest = NearestName(text, legal);
  return absl::StrCat("must be one of ", absl::StrJoin(legal, ", "), ": '", text, "'",
                      nearest.empty() ? "" : "; the nearest is '" + nearest + "'");
}

}  // namespace reel::front
