// SPDX-License-Identifier: Apache-2.0
#include "client/command/page_link.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace reel::client {
namespace {

bool IsPlain(std::string_view place) {
  for (const char byte : place) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(byte)) && byte != '.' && byte != '-' &&
        byte != ':' && byte != '[' && byte != ']') {
      return false;
    }
  }
  return !place.empty() && place.front() != '-';
}

// The part before the port.
std::string_view HostOf(std::string_view place) { return place.substr(0, place.rfind(':')); }

}  // namespace

absl::StatusOr<std::string> PageLink(const v1::GetServerInfoResponse& info,
                                     const std::string& server) {
  if (info.http_url().empty() || !info.has_page()) {
    return absl::NotFoundError(
        "The server has no page. One that is started with --http=127.0.0.1:8080 has.");
  }
  const std::string& url = info.http_url();
  const size_t colon = url.find("://");
  const std::string scheme = url.substr(0, colon);
  if (scheme != "http" && scheme != "https") {
    return absl::InvalidArgumentError("The server names no address of a page.");
  }
  const std::string_view place = std::string_view(url).substr(colon + 3);
  std::string_view host = HostOf(place);
  if ((host == "0.0.0.0" || host == "[::]") && !absl::StartsWith(server, "unix:")) {
    host = HostOf(server);
  } else if (host == "0.0.0.0" || host == "[::]") {
    host = "127.0.0.1";
  }
  const std::string whole = std::string(host) + std::string(place.substr(HostOf(place).size()));
  if (!IsPlain(whole)) {
    return absl::InvalidArgumentError("The server names no address of a page.");
  }
  return scheme + "://" + whole + "/";
}

}  // namespace reel::client
