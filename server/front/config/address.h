// SPDX-License-Identifier: Apache-2.0
// "host:port" as configuration and flags write it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace reel::front {

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

}  // namespace reel::front
