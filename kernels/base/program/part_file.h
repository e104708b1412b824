// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete: it grows as PATH.part. Only a
// regular file is ever replaced; behind a symbolic link the link's target is, with the part beside
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel {

// Move-only; used by one thread at a time. Errors name the path: INVALID_ARGUMENT if it cannot be
// opened or is not a regular file, RESOURCE_EXHAUSTED if the disk is full, INTERNAL for other
// errors of the disk.
class PartFile {
 public:
  enum class Mode {
    kScratch,  // empty at first; without Commit it is removed with the object
    kFresh,    // empty at first; without Commit or Discard the part stays, for a later kResume
    kResume,   // has the bytes of an earlier part; stays likewise
  };

  // `path` is the final one. Folders, FIFOs, devices, sockets and dangling links are refused.
  static absl::StatusOr<PartFile> Open(const std::string& path, Mode mode);
  ~PartFile();
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;

  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  std::string part_path() const { return target_ + ".part"; }

  absl::Status Append(std::string_view bytes);
  // Passes all bytes, in pieces.
  absl::Status Read(const std::function<void(std::string_view)>& take) const;
  // Empties it.
  absl::Status Restart();
  // Syncs and renames; replaces an older file of that name.
  absl::Status Commit();
  // Removes the part. Only destruction may follow.
  void Discard();

 private:
  PartFile(std::string path, std::string target, Mode mode, int descriptor);
  absl::Status Error(std::string_view what,
                     absl::StatusCode code = absl::StatusCode::kInternal) const;

  std::string path_;
  std::string target_;  // the file to replace: the target, if `path_` is a link
  Mode mode_;
  int descriptor_;  // -1: moved from, committed or discarded
  int64_t size_ = 0;
};

}  // namespace reel
