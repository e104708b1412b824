// SPDX-License-Identifier: Apache-2.0
// A video on its way to the disk: it appears under its name only when it is complete and has the
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

// Confined to one thread. Errors and what is left without Commit are PartFile's.
class VideoFile {
 public:
  static absl::StatusOr<VideoFile> Open(const std::string& path, PartFile::Mode mode);

  int64_t size() const { return file_.size(); }
  std::string part_path() const { return file_.part_path(); }

  absl::Status Append(std::string_view data);
  // Empties it: the bytes so far were of a run that does not count.
  absl::Status Restart();
  // Checks size and hash (DATA_LOSS, and the part is kept), syncs, renames.
  absl::Status Commit(const v1::MediaInfo& media);
  // Removes it.
  void Discard() { file_.Discard(); }

 private:
  explicit VideoFile(PartFile file) : file_(std::move(file)) {}

  PartFile file_;
  Sha256 sha256_;  // of everything in it
};

}  // namespace reel::client
