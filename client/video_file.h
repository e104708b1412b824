// SPDX-License-Identifier: Apache-2.0
// Writes a video to disk: the file appears under its name only when it is complete and has the
// server's hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/part_file.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Used by one thread. Errors, and what remains without Commit, are PartFile's.
class VideoFile {
 public:
  static absl::StatusOr<VideoFile> Open(const std::string& path, PartFile::Mode mode);

  int64_t size() const { return file_.size(); }
  std::string part_path() const { return file_.part_path(); }

  absl::Status Append(std::string_view data);
  // Empties the file: its bytes belong to an earlier attempt.
  absl::Status Restart();
  // Checks size and hash (DATA_LOSS, and the part stays), syncs, renames.
  absl::Status Commit(const v1::MediaInfo& media);
  // Removes the part.
  void Discard() { file_.Discard(); }

 private:
  explicit VideoFile(PartFile file) : file_(std::move(file)) {}

  PartFile file_;
  Sha256 sha256_;  // of all its bytes
};

}  // namespace reel::client
