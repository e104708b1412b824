// SPDX-License-Identifier: Apache-2.0
// The system calls of the media store that a disk can fail: a seam, so that tests can have a full
// or broken disk.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace reel::front {

// Return values and errno are those of the system calls.
class FileOps {
 public:
  virtual ~FileOps() = default;
  virtual ssize_t Write(int fd, const void* data, size_t size);
  virtual int Sync(int fd);
  // Of the disk that the open folder lies on.
  virtual int DiskBytes(int fd, int64_t& total, int64_t& available);
};

}  // namespace reel::front
