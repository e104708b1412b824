// SPDX-License-Identifier: Apache-2.0
// Addresses as the configuration and flags write them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace reel::front {

// "host:port" as configuration and flags write it.
struct Address {
  std::string host;  // without brackets
  int port = 0;      // 0: any free one
  // True for localhost, 127.0.0.0/8 and ::1: only this machine can reach it.
  bool loopback() const;
  // IPv6 hosts are in brackets, as gRPC wants them.
  std::string ToString() const;
};

// INVALID_ARGUMENT names the text and the form that is wanted.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// The same of a URL, where the port may be left out; `default_port` 0: it may not.
absl::StatusOr<Address> ParseAddress(std::string_view text, int default_port);

// Without a host where the text is empty, or no address.
Address AddressOf(std::string_view text);

// Address of a collector's OTLP/HTTP receiver, as the configuration writes it.
struct CollectorAddress {
  Address address;
  std::string path;
  bool tls = false;
  bool enabled() const { return !address.host.empty(); }
  std::string ToString() const {
    return (tls ? "https://" : "http://") + address.ToString() + path;
  }
};

// "http://HOST[:PORT][/PATH]", or https://; without a port 4318 or, with https, 443; without a path
// /v1/traces. INVALID_ARGUMENT names the rule that is broken, and never a user or password that
// stands in the text.
absl::StatusOr<CollectorAddress> ParseCollectorAddress(std::string_view text);

}  // namespace reel::front
