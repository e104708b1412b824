// SPDX-License-Identifier: Apache-2.0
// Whose videos a caller may see and end. A value.
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

struct Reach {
  std::string tenant;       // the caller's own
  bool everybodys = false;  // an admin's: those of all tenants
  bool from_peer = false;   // another node asks for its caller: of what is here alone

  bool Covers(std::string_view owner) const { return everybodys || owner == tenant; }
};

}  // namespace reel::front
