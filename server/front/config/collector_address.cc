// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/collector_address.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

constexpr std::string_view kPlainScheme = "http://";
constexpr std::string_view kTlsScheme = "https://";
constexpr int kPlainPort = 4318, kTlsPort = 443;
constexpr char kDefaultPath[] = "/v1/traces";

absl::Status Bad(const char* rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("must be http[s]://HOST[:PORT][/PATH], e.g. http://127.0.0.1:4318; ", rule));
}

// What may stand in a request's first line as it is.
bool IsPlain(char c) { return c > ' ' && c < 0x7F; }

}  // namespace

absl::StatusOr<CollectorAddress> ParseCollectorAddress(std::string_view text) {
  CollectorAddress out;
  out.tls = text.substr(0, kTlsScheme.size()) == kTlsScheme;
  const std::string_view scheme = out.tls ? kTlsScheme : kPlainScheme;
  if (text.substr(0, scheme.size()) != scheme) {
    return Bad("it does not begin with http:// or https://");
  }
  text.remove_prefix(scheme.size());
  if (!std::all_of(text.begin(), text.end(), IsPlain)) {
    return Bad("it has blanks, or characters beyond ASCII");
  }
  // Anywhere: a password may have a slash, and what is behind it must not be shown either.
  if (text.find('@') != std::string_view::npos) {
    return Bad("a user and a password are not sent: a header of otlp_headers_file is");
  }
  const size_t slash = text.find('/');
  const std::string_view place = text.substr(0, slash);
  if (text.find_first_of("?#") != std::string_view::npos) return Bad("it has a query or fragment");
  const bool has_path = slash != std::string_view::npos && slash + 1 < text.size();
  out.path = has_path ? std::string(text.substr(slash)) : kDefaultPath;
  auto address = ParseAddress(place, out.tls ? kTlsPort : kPlainPort);
  if (!address.ok()) return address.status();
  if (address->port == 0) return Bad("the port must be 1..65535");
  out.address = *std::move(address);
  return out;
}

}  // namespace reel::front
