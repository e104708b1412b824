// SPDX-License-Identifier: Apache-2.0
// Rules for what a web page may do to the door. A browser sends forms to any port of its
// machine, asked or not, and a name that an attacker owns can come to mean 127.0.0.1.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/http/door_message.h"

namespace reel::front {

struct DoorGuardOptions {
  bool loopback = true;                    // only then is Host looked at
  std::vector<std::string> hosts;          // beside localhost and loopback addresses
  std::vector<std::string> allow_origins;  // "https://example.org"
};

class DoorGuard {
 public:
  explicit DoorGuard(DoorGuardOptions options) : options_(std::move(options)) {}

  // HOST_REFUSED, ORIGIN_REFUSED.
  absl::Status Check(const DoorHead& head) const;
  // A question of a browser whether a page may ask.
  bool IsPreflight(const DoorHead& head) const;
  DoorReply Preflight() const;
  // What a page of an allowed origin needs to read the reply; and what others must not do with it.
  void AddFields(const DoorHead& head, DoorReply& reply) const;

 private:
  bool Allowed(std::string_view origin) const;

  const DoorGuardOptions options_;
};

}  // namespace reel::front
