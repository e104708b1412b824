// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel {

namespace {

std::string KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

absl::Status NoFile(const std::string& what, const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat("The output is ", what, ", not a regular file: '", path, "'."));
}

// The file that a rename would replace.
absl::StatusOr<std::string> TargetOf(const std::string& path) {
  if (path.empty() || path.back() == '/') return NoFile("a folder", path);
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0)
    return path;  // if the name is bad, opening the part reports it
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link && stat(path.c_str(), &info) != 0) return NoFile("a link to nothing", path);
  if (!S_ISREG(info.st_mode)) return NoFile(KindOf(info.st_mode), path);
  std::error_code error;
  return is_link ? std::filesystem::canonical(path, error).string() : path;
}

}  // namespace

absl::StatusOr<PartFile> PartFile::Open(const std::string& path, Mode mode) {
  absl::StatusOr<std::string> target = TargetOf(path);
  if (!target.ok()) return target.status();
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (mode == Mode::kResume ? O_APPEND : O_TRUNC);
  const std::string part = *target + ".part";
  PartFile file(path, *std::move(target), mode, open(part.c_str(), flags, 0666));
  if (file.descriptor_ < 0) {
    return file.Error("cannot be opened", absl::StatusCode::kInvalidArgument);
  }
  struct stat info{};
  if (fstat(file.descriptor_, &info) != 0) return file.Error("cannot be read");
  file.size_ = info.st_size;
  return file;
}

PartFile::PartFile(std::string path, std::string target, Mode mode, int descriptor)
    : path_(std::move(path)), target_(std::move(target)), mode_(mode), descriptor_(descriptor) {}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
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
  struct stat info{};
  if (lstat(target_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return NoFile(S_ISLNK(info.st_mode) ? "a link by now" : KindOf(info.st_mode), path_);
  }
  if (std::rename(part_path().c_str(), target_.c_str()) != 0) return Error("cannot be renamed");
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
