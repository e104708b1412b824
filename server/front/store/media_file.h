// SPDX-License-Identifier: Apache-2.0
// One file of the media store: written at its end, hashed as it grows, read anywhere.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/digest/sha256.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// The system calls of the media store that a disk can fail: a seam, so that tests can have a full
// or broken disk.
// Return values and errno are those of the system calls.
class FileOps {
 public:
  virtual ~FileOps() = default;
  virtual ssize_t Write(int fd, const void* data, size_t size);
  virtual int Sync(int fd);
  // Of the disk that the open folder lies on.
  virtual int DiskBytes(int fd, int64_t& total, int64_t& available);
};

// Probes whether a disk takes bytes: writes 256 KiB into a nameless file of `folder` and syncs it;
// waits. STORE_FULL for want of room, else INTERNAL.
absl::Status ProbeDisk(const std::string& folder);

// An owned descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

// errno of a failed write as a status: STORE_FULL for want of room or quota, else INTERNAL.
absl::Status WriteError(int error);
// All of `bytes`, at the end.
absl::Status WriteAll(FileOps& ops, int fd, std::string_view bytes);

// Confined to the media thread.
class MediaWriter {
 public:
  // A new, empty file in the open folder; an old one of the same name is cut.
  static absl::StatusOr<std::unique_ptr<MediaWriter>> Create(FileOps& ops, int folder,
                                                             const std::string& name);
  absl::Status Append(int64_t offset, std::string_view bytes);
  // Synced, with its name in the folder.
  absl::StatusOr<MediaDigest> Finish(int folder);
  int64_t size() const { return size_; }
  // What it has of the disk, also while somebody reads it. Nothing is written any more.
  void GiveBack();

 private:
  MediaWriter(FileOps& ops, Descriptor file) : ops_(ops), file_(std::move(file)) {}
  void AddToBlocks(std::string_view bytes);

  FileOps& ops_;
  Descriptor file_;
  Sha256 hash_;
  BlockSums blocks_;  // the last one is of what there is of it
  int64_t size_ = 0;
};

// DATA_LOSS MEDIA_CORRUPT when it is gone or of another size than the seal's; so is a Read of what
// does not match the seal.
absl::StatusOr<std::shared_ptr<const MediaReader>> OpenMediaFile(int folder,
                                                                 const std::string& name,
                                                                 std::optional<MediaSeal> seal);

}  // namespace reel::front
