// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

absl::Status BadAddress(std::string_view text, const char* rule) {
  return absl::InvalidArgumentError(absl::StrCat("must be host:port, e.g. 127.0.0.1:50051; ", rule,
                                                 ": '", std::string(text), "'"));
}

}  // namespace

bool Address::loopback() const {
  if (host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string Address::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text, "the port is missing");
  std::string host(text.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return BadAddress(text, "an IPv6 host needs brackets");
  }
  if (host.empty()) return BadAddress(text, "the host is missing");
  for (const char c : host) {
    const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == ':' || c == '_';
    if (!legal)
      return BadAddress(text, "the host has a character that is not allowed in host names");
  }
  int port = -1;
  const std::string digits(text.substr(colon + 1));
  if (digits.empty() || digits.size() > 5 || !absl::SimpleAtoi(digits, &port) || port < 0 ||
      port > 65535) {
    return BadAddress(text, "the port must be 0..65535");
  }
  return Address{host, port};
}

absl::StatusOr<Address> ParseAddress(std::string_view text, int default_port) {
  const size_t bracket = text.find(']');  // of an IPv6 address, whose own colons are no port's
  const bool has_port =
      text.find(':', bracket == std::string_view::npos ? 0 : bracket) != std::string_view::npos;
  std::string place(text);
  if (!has_port && default_port > 0) absl::StrAppend(&place, ":", default_port);
  return ParseAddress(place);
}

Address AddressOf(std::string_view text) { return ParseAddress(text).value_or(Address()); }

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
