// SPDX-License-Identifier: Apache-2.0
#include "server/logging/tenant_hash.h"

#include "kernels/base/digest/sha256.h"

namespace reel {

std::string TenantHash(std::string_view tenant) {
  return tenant.empty() ? std::string() : Sha256Hex(tenant).substr(0, 8);
}

}  // namespace reel
