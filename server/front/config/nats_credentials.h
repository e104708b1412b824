// SPDX-License-Identifier: Apache-2.0
// Who a server is to the brokers of its fleet.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

struct NatsCredentials {
  std::string user, password;
};

// Of a file with one line, "user:password"; errors name the path and nothing of what it has.
absl::StatusOr<NatsCredentials> ReadNatsCredentials(const std::string& path);

}  // namespace reel::front
