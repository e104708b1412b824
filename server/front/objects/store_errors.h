// SPDX-License-Identifier: Apache-2.0
// Errors of an object store, in this server's terms.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/front/objects/store_call.h"

namespace reel::front {

// Of an answer that is no success; `place`: where it was asked, for the message.
absl::Status RefusalOf(const StoreAnswer& answer, const std::string& place);

}  // namespace reel::front
