// SPDX-License-Identifier: Apache-2.0
// Address of a collector's OTLP/HTTP receiver, as the configuration writes it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/front/config/address.h"

namespace reel::front {

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
