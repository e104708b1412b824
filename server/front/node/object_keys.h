// SPDX-License-Identifier: Apache-2.0
// Under which keys a fleet's objects lie. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/front/fleet/seal.h"

namespace reel::front {

// What begins the keys of all results and states, of all conditions of a fleet.
std::string MediaPrefix(const std::string& fleet);
std::string ConditionPrefix(const std::string& fleet);

// The result of one epoch: whoever comes too late writes elsewhere.
std::string MediaKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// The state that the video of one epoch has kept, beside its result.
std::string StateKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// A tenant's own: what another has sent tells it nothing.
std::string ConditionKey(const std::string& fleet, const std::string& tenant,
                         const std::string& name);
// Where a condition may lie: first where this server puts it, last where one without a key does, in
// the clear and by its hash.
std::vector<std::string> ConditionKeys(const Seal& seal, const std::string& fleet,
                                       const std::string& tenant, const std::string& sha256);

struct MediaPlace {
  std::string tenant, id;
  uint32_t epoch = 0;
  bool is_state = false;  // else it is the result
};
// nullopt: it is none of the fleet's results or states.
std::optional<MediaPlace> ReadMediaKey(const std::string& fleet, const std::string& key);

}  // namespace reel::front
