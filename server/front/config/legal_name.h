// SPDX-License-Identifier: Apache-2.0
// The characters that names of models, workers, tenants and the like may have.
#pragma once

#include <string_view>

namespace reel::front {

// True for [a-z0-9][a-z0-9._-]{0,62}.
bool IsLegalName(std::string_view name);

// The replica in names of videos: [a-z0-9]{1,16}.
bool IsLegalReplica(std::string_view replica);

}  // namespace reel::front
