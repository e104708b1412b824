// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, int64_t max_bytes) {
  // Not blocking: a named pipe must not hold the start up.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be opened: ", path));
  }
  struct stat info{};
  if (fstat(file.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be examined: ", path));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("Not a regular file: ", path));
  }
  if (info.st_size > max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("The file is too large: ", path, " has ",
                                                   info.st_size, " bytes, at most ", max_bytes,
                                                   " are read"));
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be read: ", path));
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace reel::front
