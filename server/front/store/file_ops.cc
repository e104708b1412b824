// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/file_ops.h"

#include <sys/statvfs.h>
#include <unistd.h>

namespace reel::front {

ssize_t FileOps::Write(int fd, const void* data, size_t size) { return ::write(fd, data, size); }

int FileOps::Sync(int fd) { return ::fsync(fd); }

int FileOps::DiskBytes(int fd, int64_t& total, int64_t& available) {
  struct statvfs disk = {};
  if (::fstatvfs(fd, &disk) != 0) return -1;
  total = static_cast<int64_t>(disk.f_blocks * disk.f_frsize);
  available = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  return 0;
}

}  // namespace reel::front
