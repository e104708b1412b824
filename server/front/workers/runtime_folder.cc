// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/runtime_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

constexpr char kPrefix[] = "reeld-";
constexpr char kTemplate[] = "/reeld-XXXXXX";
constexpr char kSocket[] = "w.sock";
constexpr size_t kMaxBase = 80;  // with the template and the socket's name well below 107
constexpr int kAttempts = 3;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Opened and locked; none when it is not a folder of ours, or when a living process holds it.
FileDescriptor Lock(int parent, const char* path) {
  FileDescriptor folder(openat(parent, path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!folder || fstat(folder.get(), &info) != 0 || info.st_uid != geteuid()) return {};
  if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return folder;
}

void RemoveLeftOvers(const std::string& place) {
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(place.c_str()));
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    if (!absl::StartsWith(entry->d_name, kPrefix)) continue;
    const FileDescriptor left = Lock(dirfd(folder.get()), entry->d_name);
    if (!left) continue;
    unlinkat(left.get(), kSocket, 0);
    unlinkat(dirfd(folder.get()), entry->d_name, AT_REMOVEDIR);  // fails where there is more in it
  }
}

bool IsAt(const FileDescriptor& folder, const std::string& path) {
  struct stat ours{}, there{};
  return fstat(folder.get(), &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

struct LockedFolder {
  std::string path;
  FileDescriptor lock;
};

std::optional<LockedFolder> MakeLocked(const std::string& place) {
  // Another reeld that starts may take a folder for left over until it is locked.
  for (int i = 0; i < kAttempts; ++i) {
    std::string path = place + kTemplate;
    if (mkdtemp(path.data()) == nullptr) return std::nullopt;
    FileDescriptor lock = Lock(AT_FDCWD, path.c_str());
    if (lock && IsAt(lock, path)) return LockedFolder{std::move(path), std::move(lock)};
    rmdir(path.c_str());
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<RuntimeFolder> RuntimeFolder::Make(const std::string& base) {
  for (const std::string& place : {base, std::string("/tmp")}) {
    if (place.empty() || place.size() > kMaxBase) continue;
    RemoveLeftOvers(place);
    if (auto made = MakeLocked(place)) {
      return RuntimeFolder(std::move(made->path), std::move(made->lock));
    }
  }
  return absl::UnavailableError(
      absl::StrCat("Cannot make a folder for the workers' socket: ", strerror(errno)));
}

RuntimeFolder::RuntimeFolder(std::string path, FileDescriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

RuntimeFolder::RuntimeFolder(RuntimeFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

RuntimeFolder::~RuntimeFolder() {
  if (path_.empty()) return;
  unlink(socket().c_str());
  rmdir(path_.c_str());
}

bool RuntimeFolder::HasSocket() const {
  return IsAt(lock_, path_) && access(socket().c_str(), F_OK) == 0;
}

}  // namespace reel::front
