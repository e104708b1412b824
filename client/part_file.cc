// SPDX-License-Identifier: Apache-2.0
#include "client/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel::client {

absl::StatusOr<PartFile> PartFile::Open(const std::string& path, Mode mode) {
  struct stat existing{};
  if (path.empty() || path.back() == '/' ||
      (stat(path.c_str(), &existing) == 0 && S_ISDIR(existing.st_mode))) {
    return absl::InvalidArgumentError(
        absl::StrCat("The output is a folder, not a file: '", path, "'."));
  }
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (mode == Mode::kFresh ? O_TRUNC : 0);
  PartFile file(path, open((path + ".part").c_str(), flags, 0666));
  if (file.descriptor_ < 0)
    return file.Error("cannot be opened", absl::StatusCode::kInvalidArgument);
  if (mode == Mode::kResume) {
    if (absl::Status status = file.ReadBack(); !status.ok()) return status;
  }
  return file;
}

PartFile::PartFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      sha256_(std::move(other.sha256_)) {}

PartFile::~PartFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status PartFile::Append(std::string_view data) {
  sha256_.Update(data);
  while (!data.empty()) {
    const ssize_t written = write(descriptor_, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error("cannot be written");
    data.remove_prefix(static_cast<size_t>(written));
    size_ += written;
  }
  return absl::OkStatus();
}

absl::Status PartFile::Restart() {
  if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0) {
    return Error("cannot be emptied");
  }
  size_ = 0;
  sha256_.Reset();
  return absl::OkStatus();
}

absl::Status PartFile::Commit(const v1::MediaInfo& media) {
  const std::string hash = sha256_.Hex();
  if (size_ != media.size_bytes() || hash != media.sha256()) {
    return absl::DataLossError(absl::StrCat(
        "The file is not the server's: ", part_path(), " has ", size_, " of ", media.size_bytes(),
        " bytes and SHA-256 ", hash, ", not ", media.sha256(), "."));
  }
  if (fsync(descriptor_) != 0) return Error("cannot be synced");
  if (close(std::exchange(descriptor_, -1)) != 0) return Error("cannot be closed");
  if (std::rename(part_path().c_str(), path_.c_str()) != 0) return Error("cannot be renamed");
  return absl::OkStatus();
}

void PartFile::Discard() {
  if (descriptor_ < 0) return;
  close(std::exchange(descriptor_, -1));
  unlink(part_path().c_str());
}

absl::Status PartFile::ReadBack() {
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t count = read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("cannot be read");
    if (count == 0) return absl::OkStatus();
    sha256_.Update({buffer.data(), static_cast<size_t>(count)});
    size_ += count;
  }
}

absl::Status PartFile::Error(std::string_view what, absl::StatusCode code) const {
  const int error = errno;
  const std::string message =
      absl::StrCat("The file ", std::string(what), ": ", part_path(), ": ", strerror(error), ".");
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::Status(code, message);
}

}  // namespace reel::client
