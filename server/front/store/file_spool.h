// SPDX-License-Identifier: Apache-2.0
// An upload on this server's disk, until the file is whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/digest/sha256.h"
#include "server/front/store/media_file.h"

namespace reel::front {

// Makes the folder, or removes what an earlier process has left in it.
absl::Status ClearSpool(const std::string& folder);

// Used by one thread at a time; waits for the disk. The file goes with it.
class FileSpool {
 public:
  // `number`: no other file of the folder has it. Of `whole` bytes.
  static absl::StatusOr<std::unique_ptr<FileSpool>> Open(const std::string& folder, int64_t number,
                                                         int64_t whole);
  ~FileSpool();
  FileSpool(const FileSpool&) = delete;
  FileSpool& operator=(const FileSpool&) = delete;

  // INVALID_REQUEST for more than was said, STORE_FULL.
  absl::Status Append(std::string_view bytes);

  // The whole, once, after the last Append.
  struct Whole {
    std::string sha256, content_type;
  };
  // INVALID_REQUEST: fewer bytes than were said, of another hash than `sha256` (empty: any), or
  // of no known type.
  absl::StatusOr<Whole> Finish(const std::string& sha256);
  absl::StatusOr<std::string> Read() const;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

 private:
  FileSpool(std::string path, Descriptor file, int64_t whole)
      : path_(std::move(path)), file_(std::move(file)), whole_(whole) {}

  const std::string path_;
  const Descriptor file_;
  const int64_t whole_;
  FileOps ops_;
  Sha256 hash_;
  std::string head_;  // the first bytes
  int64_t size_ = 0;
};

}  // namespace reel::front
