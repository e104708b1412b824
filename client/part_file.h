// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete and right: it grows as PATH.part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sha256.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Confined to one thread. Destroyed without Commit it leaves the part for a later resumption,
// unless Discard was called. Errors name the path: INVALID_ARGUMENT when
// it cannot be opened, RESOURCE_EXHAUSTED when the disk is full, INTERNAL for others of the disk.
class PartFile {
 public:
  enum class Mode { kFresh, kResume };

  // `path` is the final one; kResume keeps what an earlier part holds.
  static absl::StatusOr<PartFile> Open(const std::string& path, Mode mode);
  ~PartFile();
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;

  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  std::string part_path() const { return path_ + ".part"; }

  absl::Status Append(std::string_view data);
  // Empties it: the bytes so far were of a run that does not count.
  absl::Status Restart();
  // Checks size and hash (DATA_LOSS, and the part is kept), syncs, renames.
  absl::Status Commit(const v1::MediaInfo& media);
  // Removes it.
  void Discard();

 private:
  PartFile(std::string path, int descriptor);
  absl::Status ReadBack();
  absl::Status Error(std::string_view what,
                     absl::StatusCode code = absl::StatusCode::kInternal) const;

  std::string path_;
  int descriptor_;  // -1: moved from, committed or discarded
  int64_t size_ = 0;
  Sha256 sha256_;  // of everything in it
};

}  // namespace reel::client
