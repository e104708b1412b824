// SPDX-License-Identifier: Apache-2.0
// What stands for a tenant in logs, whose lines others may read.
#pragma once

#include <string>
#include <string_view>

namespace reel {

// 8 hex digits of its name's SHA-256; empty for none.
std::string TenantHash(std::string_view tenant);

}  // namespace reel
