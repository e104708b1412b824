// SPDX-License-Identifier: Apache-2.0
// A hash that stands for a tenant's name in logs that others may read.
#pragma once

#include <string>
#include <string_view>

namespace reel {

// 8 hex digits of the name's SHA-256; empty for no tenant.
std::string TenantHash(std::string_view tenant);

}  // namespace reel
