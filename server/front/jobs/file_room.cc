// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/file_room.h"

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {

absl::Status CheckDisk(const DiskUsage& disk) {
  if (!disk.full()) return absl::OkStatus();
  const std::string what =
      disk.left_free_bytes == 0
          ? "The stored results have reached their limit"
          : absl::StrCat("The disk for results has only the ", disk.left_free_bytes >> 20,
                         " MiB left that are kept free; stored bytes");
  return MakeOverQuota(Reason::kStoreFull, "server", what, {disk.stored_bytes, disk.limit_bytes});
}

absl::Status CheckFileRoom(const std::string& tenant, int64_t bytes, const TenantBytes& account,
                           const DiskUsage& disk) {
  if (account.limited() && bytes > account.room()) {
    return TooManyBytes(tenant, account, bytes, "", "file");
  }
  return CheckDisk(disk);
}

}  // namespace reel::front
