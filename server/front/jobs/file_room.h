// SPDX-License-Identifier: Apache-2.0
// Checks of free space on the disk and in the tenant's account.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Fails with STORE_FULL.
absl::Status CheckDisk(const DiskUsage& disk);
// For an upload. Fails with TENANT_QUOTA or STORE_FULL.
absl::Status CheckFileRoom(const std::string& tenant, int64_t bytes, const TenantBytes& account,
                           const DiskUsage& disk);

}  // namespace reel::front
