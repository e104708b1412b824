// SPDX-License-Identifier: Apache-2.0
// A tenant's hash, which stands for its name in logs that others may read.
#pragma once

#include <string>
#include <string_view>

namespace reel {

// 8 hex digits of its name's SHA-256; empty for none.
std::string TenantHash(std::string_view tenant);

}  // namespace reel
