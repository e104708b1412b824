// SPDX-License-Identifier: Apache-2.0
#include "client/video_file.h"

#include "absl/strings/str_cat.h"

namespace reel::client {

absl::StatusOr<VideoFile> VideoFile::Open(const std::string& path, PartFile::Mode mode) {
  absl::StatusOr<PartFile> opened = PartFile::Open(path, mode);
  if (!opened.ok()) return opened.status();
  VideoFile file(*std::move(opened));
  const absl::Status read =
      file.file_.Read([&file](std::string_view piece) { file.sha256_.Update(piece); });
  if (!read.ok()) return read;
  return file;
}

absl::Status VideoFile::Append(std::string_view data) {
  sha256_.Update(data);
  return file_.Append(data);
}

absl::Status VideoFile::Restart() {
  sha256_.Reset();
  return file_.Restart();
}

absl::Status VideoFile::Commit(const v1::MediaInfo& media) {
  const std::string hash = sha256_.Hex();
  if (size() == media.size_bytes() && hash == media.sha256()) return file_.Commit();
  return absl::DataLossError(
      absl::StrCat("The file differs from the server's: ", part_path(), " has ", size(), " of ",
                   media.size_bytes(), " bytes and SHA-256 ", hash, ", not ", media.sha256(), "."));
}

}  // namespace reel::client
