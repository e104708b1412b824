// SPDX-License-Identifier: Apache-2.0
// Reads and checks the configuration of the store that a fleet's servers share.
#pragma once

#include "server/front/config/option_reader.h"
#include "server/front/config/server_options.h"

namespace reel::config::v1 {
class Objects;
}

namespace reel::front {

// Of a configuration that has one.
ObjectOptions ReadObjects(const config::v1::Objects& objects, OptionReader& reader);

}  // namespace reel::front
