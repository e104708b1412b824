// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete: it grows as PATH.part. Only a
// regular file is ever replaced; behind a symbolic link it is the link's target, and the part lies
// beside that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel {

// Move-only; confined to one thread at a time. Errors name the path: INVALID_ARGUMENT when it
// cannot be opened or is no regular file, RESOURCE_EXHAUSTED when the disk is full, INTERNAL for
// others of the disk.
class PartFile {
 public:
  enum class Mode {
    kScratch,  // empty at first; without Commit it is gone with the object
    kFresh,    // empty at first; without Commit or Discard the part stays, for a later kResume
    kResume,   // holds what an earlier part holds; stays likewise
  };

  // `path` is the final one. A folder, a FIFO, a device, a socket and a link to nothing are
  // refused.
  static absl::StatusOr<PartFile> Open(const std::string& path, Mode mode);
  ~PartFile();
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;

  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  std::string part_path() const { return target_ + ".part"; }

  absl::Status Append(std::string_view bytes);
  // Hands out what it holds, from the first byte to the last, in pieces.
  absl::Status Read(const std::function<void(std::string_view)>& take) const;
  // Empties it.
  absl::Status Restart();
  // Syncs and renames; an older file of that name is replaced.
  absl::Status Commit();
  // Removes it. Nothing but destruction may follow.
  void Discard();

 private:
  PartFile(std::string path, std::string target, Mode mode, int descriptor);
  absl::Status Error(std::string_view what,
                     absl::StatusCode code = absl::StatusCode::kInternal) const;

  std::string path_;
  std::string target_;  // what is replaced: behind links where `path_` is one
  Mode mode_;
  int descriptor_;  // -1: moved from, committed or discarded
  int64_t size_ = 0;
};

}  // namespace reel
