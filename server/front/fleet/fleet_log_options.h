// SPDX-License-Identifier: Apache-2.0
// Addresses, credentials and time limits of a fleet's log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace reel::front {

struct FleetLogOptions {
  std::vector<std::string> urls;                    // nats://HOST:PORT, or all tls://HOST:PORT
  std::string user, password;                       // empty: none
  std::string nkey_seed, nkey_public;               // likewise; in their place
  std::string ca_file, certificate_file, key_file;  // with TLS; the last two may be empty
  std::string fleet;                                // 1 to 16 of a-z and 0-9
  int replicas = 1;
  absl::Duration max_age = absl::Hours(24 * 7);
  int64_t max_bytes = int64_t{8} << 30;       // a full log refuses, it forgets nothing
  absl::Duration answer = absl::Seconds(1);   // for one question to the broker
  absl::Duration silence = absl::Seconds(2);  // after it the stream is looked at
  absl::Duration connect_limit = absl::Seconds(5);
};

}  // namespace reel::front
