// SPDX-License-Identifier: Apache-2.0
// The account of a tenant's bytes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/front/scheduling/cost_model.h"

namespace reel::front {

struct TenantBytes {
  int64_t held = 0;      // finished videos, and the conditions of queued and running ones
  int64_t reserved = 0;  // for the files of queued and running videos
  int64_t allowed = 0;   // 0: any number

  bool limited() const { return allowed > 0; }
  // Of a limited tenant; negative when more is there than is allowed now.
  int64_t room() const { return allowed - held - reserved; }
};

// What to reserve for such a file with `conditions` bytes beside it: what it may come to at most,
// or what is left, since a doubt refuses nobody. nullopt: there is no room for what is likely.
std::optional<int64_t> ReservationFor(const OutputSize& output, int64_t conditions,
                                      const TenantBytes& tenant);

// TENANT_QUOTA: how much is held, reserved and allowed. `video`: its name, or empty.
absl::Status TooManyBytes(const std::string& tenant, const TenantBytes& bytes, int64_t needed,
                          const std::string& video);

}  // namespace reel::front
