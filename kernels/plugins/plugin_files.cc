// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "kernels/plugins/plugin_metadata.h"

namespace reel::kernels {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1 << 20;
constexpr int64_t kMaxFileBytes = int64_t{4} << 30;
constexpr char kMetadata[] = "metadata.json";

bool IsBelow(const fs::path& root, const fs::path& path) {
  const auto end = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end.first == root.end();
}

// Opens a regular file of at most `max_bytes` read-only.
class PlainFile {
 public:
  static absl::StatusOr<PlainFile> Open(const fs::path& path, int64_t max_bytes) {
    // A pipe or device in its place must not block this process.
    PlainFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts{};
    if (file.fd_ < 0 || fstat(file.fd_, &facts) != 0) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("The plug-in's file cannot be read: ", path.string()));
    }
    if (!S_ISREG(facts.st_mode) || facts.st_size > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "The plug-in's file is no plain file of at most ", max_bytes, " bytes: ", path.string()));
    }
    return file;
  }
  PlainFile(PlainFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  PlainFile& operator=(PlainFile&&) = delete;
  ~PlainFile() {
    if (fd_ >= 0) close(fd_);
  }

  // Reads the next piece into `buffer`; 0 at the end.
  absl::StatusOr<size_t> Read(std::string& buffer) const {
    const ssize_t size = read(fd_, buffer.data(), buffer.size());
    if (size < 0) return absl::ErrnoToStatus(errno, "The plug-in's file cannot be read");
    return static_cast<size_t>(size);
  }

 private:
  explicit PlainFile(int fd) : fd_(fd) {}
  int fd_;
};

absl::Status CheckFile(const fs::path& root, const fs::path& folder, const std::string& name,
                       const std::string& digest) {
  std::error_code error;
  const fs::path real = fs::canonical(folder / name, error);
  if (error) return absl::DataLossError(absl::StrCat("A file of the build is missing: ", name));
  if (!IsBelow(root, real)) {
    return absl::PermissionDeniedError(
        absl::StrCat("A file of the build lies outside plugin_root: ", name));
  }
  REEL_ASSIGN_OR_RETURN(const std::string found, Sha256OfFile(real));
  if (found == digest) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("A file of the build is not what metadata.json says: ", name));
}

bool IsBytecode(const fs::path& path) {
  return path.extension() == ".pyc" && path.parent_path().filename() == "__pycache__";
}

}  // namespace

absl::StatusOr<fs::path> ResolveBelow(const std::string& root, const std::string& folder) {
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  if (error || !fs::path(root).is_absolute()) {
    return absl::NotFoundError(
        absl::StrCat("plugin_root must be an absolute path that exists: '", root, "'"));
  }
  // An absolute folder would replace the root; the comparison below refuses it.
  const fs::path real = fs::canonical(real_root / folder, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("There is no such folder below plugin_root: '", folder, "'"));
  }
  if (IsBelow(real_root, real)) return real;
  return absl::PermissionDeniedError(
      absl::StrCat("The plug-in's folder lies outside plugin_root: '", folder, "'"));
}

absl::StatusOr<std::string> ReadPluginFile(const fs::path& path, int64_t max_bytes) {
  REEL_ASSIGN_OR_RETURN(const PlainFile file, PlainFile::Open(path, max_bytes));
  std::string text, buffer(kPieceBytes, '\0');
  while (true) {
    REEL_ASSIGN_OR_RETURN(const size_t size, file.Read(buffer));
    if (size == 0 || static_cast<int64_t>(text.size()) > max_bytes) return text;
    text.append(buffer, 0, size);
  }
}

absl::StatusOr<std::string> Sha256OfFile(const fs::path& path) {
  REEL_ASSIGN_OR_RETURN(const PlainFile file, PlainFile::Open(path, kMaxFileBytes));
  Sha256 hash;
  std::string buffer(kPieceBytes, '\0');
  while (true) {
    REEL_ASSIGN_OR_RETURN(const size_t size, file.Read(buffer));
    if (size == 0) break;
    hash.Update({buffer.data(), size});
  }
  const Sha256Digest digest = hash.Digest();
  return std::string(digest.begin(), digest.end());
}

std::vector<std::string> FoldersIn(const fs::path& folder, size_t limit) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) names.push_back(entry->path().filename());
    if (names.size() >= limit) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status CheckDigests(const fs::path& root, const fs::path& folder,
                          const std::map<std::string, std::string>& digests) {
  size_t seen = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++seen > 2 * kMaxPluginFiles) return absl::DataLossError("The build has too many files");
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) continue;
    const std::string name = entry->path().lexically_relative(folder);
    if (name == kMetadata || digests.contains(name) || IsBytecode(entry->path())) continue;
    return absl::DataLossError(
        absl::StrCat("A file of the build is not named by metadata.json: ", name));
  }
  if (error)
    return absl::DataLossError(absl::StrCat("The build cannot be read: ", error.message()));
  for (const auto& [name, digest] : digests) {
    REEL_RETURN_IF_ERROR(CheckFile(root, folder, name, digest));
  }
  return absl::OkStatus();
}

}  // namespace reel::kernels
