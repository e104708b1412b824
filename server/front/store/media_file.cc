// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/media_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/crc32c.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {

ssize_t FileOps::Write(int fd, const void* data, size_t size) { return ::write(fd, data, size); }

int FileOps::Sync(int fd) { return ::fsync(fd); }

int FileOps::DiskBytes(int fd, int64_t& total, int64_t& available) {
  struct statvfs disk = {};
  if (::fstatvfs(fd, &disk) != 0) return -1;
  total = static_cast<int64_t>(disk.f_blocks * disk.f_frsize);
  available = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  return 0;
}

namespace {

constexpr size_t kProbeBytes = 256 << 10;

}  // namespace

absl::Status ProbeDisk(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  // Some file systems have no nameless files: there, only failed results show a bad disk.
  if (file.get() < 0) return errno == EOPNOTSUPP ? absl::OkStatus() : WriteError(errno);
  FileOps ops;
  absl::Status written = WriteAll(ops, file.get(), std::string(kProbeBytes, 'r'));
  if (written.ok() && ops.Sync(file.get()) != 0) written = WriteError(errno);
  return written;
}

namespace {

absl::Status Corrupt(std::string_view what) { return MakeError(Reason::kMediaCorrupt, what); }

class FileReader final : public MediaReader {
 public:
  FileReader(Descriptor file, MediaSeal seal) : file_(std::move(file)), seal_(std::move(seal)) {}

  absl::StatusOr<std::string> Read(int64_t offset, int64_t max_bytes) const override {
    max_bytes = std::max<int64_t>(0, max_bytes);
    if (seal_.blocks.empty()) return ReadRaw(offset, max_bytes);
    // Whole blocks: only these can be checked.
    const int64_t end = std::min(offset + max_bytes, seal_.size);
    if (offset >= end) return std::string();
    const int64_t first = offset / kMediaBlockBytes * kMediaBlockBytes;
    const int64_t past = (end + kMediaBlockBytes - 1) / kMediaBlockBytes * kMediaBlockBytes;
    REEL_ASSIGN_OR_RETURN(std::string bytes, ReadRaw(first, std::min(past, seal_.size) - first));
    REEL_RETURN_IF_ERROR(Check(first, bytes));
    bytes.resize(static_cast<size_t>(std::min<int64_t>(end - first, std::ssize(bytes))));
    bytes.erase(0, static_cast<size_t>(offset - first));
    return bytes;
  }

 private:
  absl::StatusOr<std::string> ReadRaw(int64_t offset, int64_t max_bytes) const {
    std::string bytes(static_cast<size_t>(max_bytes), '\0');
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

  absl::Status Check(int64_t first, std::string_view bytes) const {
    for (auto block = static_cast<size_t>(first / kMediaBlockBytes); !bytes.empty(); ++block) {
      const std::string_view one = bytes.substr(0, kMediaBlockBytes);
      if (block >= seal_.blocks.size() || Crc32c(one) != seal_.blocks[block]) {
        return Corrupt(absl::StrCat("The stored file is damaged: ", one.size(), " bytes at offset ",
                                    int64_t(block) * kMediaBlockBytes,
                                    " are not those that were written"));
      }
      bytes.remove_prefix(one.size());
    }
    return absl::OkStatus();
  }

  const Descriptor file_;
  const MediaSeal seal_;
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
  AddToBlocks(bytes);
  return absl::OkStatus();
}

void MediaWriter::AddToBlocks(std::string_view bytes) {
  while (!bytes.empty()) {
    const int64_t begun = size_ % kMediaBlockBytes;
    const std::string_view piece = bytes.substr(0, static_cast<size_t>(kMediaBlockBytes - begun));
    if (begun == 0) blocks_.push_back(0);
    blocks_.back() = Crc32c(piece, blocks_.back());
    size_ += std::ssize(piece);
    bytes.remove_prefix(piece.size());
  }
}

absl::StatusOr<MediaDigest> MediaWriter::Finish(int folder) {
  if (ops_.Sync(file_.get()) != 0) return WriteError(errno);
  if (ops_.Sync(folder) != 0) return WriteError(errno);
  return MediaDigest{size_, hash_.Hex(), blocks_};
}

void MediaWriter::GiveBack() {
  if (::ftruncate(file_.get(), 0) != 0) {
    Log(LogLevel::kWarning, "The disk does not give back a file that failed",
        {{"error", WriteError(errno)}});
  }
}

absl::StatusOr<std::shared_ptr<const MediaReader>> OpenMediaFile(int folder,
                                                                 const std::string& name,
                                                                 std::optional<MediaSeal> seal) {
  Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok()) return Corrupt("The stored file is missing");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Corrupt("The stored file cannot be read");
  }
  if (seal && info.st_size != seal->size) {
    return Corrupt(absl::StrCat("The stored file is damaged: ", info.st_size,
                                " bytes where there were ", seal->size));
  }
  return std::make_shared<FileReader>(std::move(file), seal ? *std::move(seal) : MediaSeal());
}

}  // namespace reel::front
