// SPDX-License-Identifier: Apache-2.0
// Checks whether the disk and the tenant's account have room.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// STORE_FULL.
absl::Status CheckDisk(const DiskUsage& disk);
// For a file that is sent ahead of a request: TENANT_QUOTA, STORE_FULL.
absl::Status CheckFileRoom(const std::string& tenant, int64_t bytes, const TenantBytes& account,
                           const DiskUsage& disk);

}  // namespace reel::front
