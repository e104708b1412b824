// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/media_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

absl::Status Corrupt(std::string_view what) { return MakeError(Reason::kMediaCorrupt, what); }

class FileReader final : public MediaReader {
 public:
  explicit FileReader(Descriptor file) : file_(std::move(file)) {}

  absl::StatusOr<std::string> Read(int64_t offset, int64_t max_bytes) const override {
    std::string bytes(static_cast<size_t>(std::max<int64_t>(0, max_bytes)), '\0');
    size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = ::pread(file_.get(), bytes.data() + filled, bytes.size() - filled,
                                  static_cast<off_t>(offset + static_cast<int64_t>(filled)));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Corrupt("The disk could not read the stored file");
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

 private:
  Descriptor file_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status WriteError(int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return MakeError(Reason::kStoreFull, "The disk of the data folder is full");
  }
  return MakeError(Reason::kInternal,
                   absl::StrCat("Writing to the data folder failed: errno ", error));
}

absl::Status WriteAll(FileOps& ops, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ops.Write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return WriteError(errno);
    // A disk that takes nothing without an error is as full as one that says so.
    if (wrote == 0) return WriteError(ENOSPC);
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<MediaWriter>> MediaWriter::Create(FileOps& ops, int folder,
                                                                 const std::string& name) {
  Descriptor file(::openat(folder, name.c_str(),
                           O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok()) return WriteError(errno);
  return std::unique_ptr<MediaWriter>(new MediaWriter(ops, std::move(file)));
}

absl::Status MediaWriter::Append(int64_t offset, std::string_view bytes) {
  if (offset != size_) {
    return MakeError(Reason::kInternal, absl::StrCat("Media came out of order: offset ", offset,
                                                     " after ", size_, " bytes"));
  }
  REEL_RETURN_IF_ERROR(WriteAll(ops_, file_.get(), bytes));
  hash_.Update(bytes);
  size_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::StatusOr<MediaDigest> MediaWriter::Finish(int folder) {
  if (ops_.Sync(file_.get()) != 0) return WriteError(errno);
  if (ops_.Sync(folder) != 0) return WriteError(errno);
  return MediaDigest{size_, hash_.Hex()};
}

absl::StatusOr<std::shared_ptr<const MediaReader>> OpenMediaFile(
    int folder, const std::string& name, std::optional<int64_t> expected_size) {
  Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok()) return Corrupt("The stored file is missing");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Corrupt("The stored file cannot be read");
  }
  if (expected_size && info.st_size != *expected_size) {
    return Corrupt(absl::StrCat("The stored file is damaged: ", info.st_size,
                                " bytes where there were ", *expected_size));
  }
  return std::make_shared<FileReader>(std::move(file));
}

}  // namespace reel::front
