// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/address.h"

#include <arpa/inet.h>

#include <cstdint>

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

}  // namespace reel::front
