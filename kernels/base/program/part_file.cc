// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel {

absl::StatusOr<PartFile> PartFile::Open(const std::string& path, Mode mode) {
  struct stat info{};
  if (path.empty() || path.back() == '/' ||
      (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) {
    return absl::InvalidArgumentError(
        absl::StrCat("The output is a folder, not a file: '", path, "'."));
  }
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (mode == Mode::kResume ? O_APPEND : O_TRUNC);
  PartFile file(path, mode, open((path + ".part").c_str(), flags, 0666));
  if (file.descriptor_ < 0) {
    return file.Error("cannot be opened", absl::StatusCode::kInvalidArgument);
  }
  if (fstat(file.descriptor_, &info) != 0) return file.Error("cannot be read");
  file.size_ = info.st_size;
  return file;
}

PartFile::PartFile(std::string path, Mode mode, int descriptor)
    : path_(std::move(path)), mode_(mode), descriptor_(descriptor) {}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      mode_(other.mode_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

PartFile::~PartFile() {
  if (mode_ == Mode::kScratch) Discard();
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status PartFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error("cannot be written");
    bytes.remove_prefix(static_cast<size_t>(written));
    size_ += written;
  }
  return absl::OkStatus();
}

absl::Status PartFile::Read(const std::function<void(std::string_view)>& take) const {
  std::vector<char> buffer(1 << 20);
  for (off_t offset = 0; offset < size_;) {
    const ssize_t count = pread(descriptor_, buffer.data(), buffer.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("cannot be read");
    if (count == 0) break;
    take({buffer.data(), static_cast<size_t>(count)});
    offset += count;
  }
  return absl::OkStatus();
}

absl::Status PartFile::Restart() {
  if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0) {
    return Error("cannot be emptied");
  }
  size_ = 0;
  return absl::OkStatus();
}

absl::Status PartFile::Commit() {
  if (fsync(descriptor_) != 0) return Error("cannot be synced");
  if (std::rename(part_path().c_str(), path_.c_str()) != 0) return Error("cannot be renamed");
  if (close(std::exchange(descriptor_, -1)) != 0) return Error("cannot be closed");
  return absl::OkStatus();
}

void PartFile::Discard() {
  if (descriptor_ < 0) return;
  close(std::exchange(descriptor_, -1));
  unlink(part_path().c_str());
}

absl::Status PartFile::Error(std::string_view what, absl::StatusCode code) const {
  const int error = errno;
  const std::string message = absl::StrCat("The file ", absl::string_view(what.data(), what.size()),
                                           ": ", part_path(), ": ", strerror(error), ".");
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::Status(code, message);
}

}  // namespace reel
