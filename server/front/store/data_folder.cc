// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("The data folder cannot be made: ", path, ": ", error.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DataFolder> DataFolder::Open(const std::string& path) {
  const bool existed = std::filesystem::exists(path);
  if (absl::Status made = MakeFolder(path); !made.ok()) return made;
  // A folder that somebody else made keeps the mode that they chose.
  if (!existed) ::chmod(path.c_str(), 0700);
  for (const char* part : {"/media", "/conditions"}) {
    if (absl::Status made = MakeFolder(path + part); !made.ok()) return made;
  }
  const std::string lock_path = path + "/LOCK";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The data folder cannot be written to: ", path));
  }
  DataFolder folder(path, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The data folder is in use by another reeld; stop it or choose another folder: ", path));
  }
  return folder;
}

DataFolder::~DataFolder() {
  if (lock_ >= 0) ::close(lock_);
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataFolder& DataFolder::operator=(DataFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

namespace {

absl::Status Failed(const std::error_code& error) {
  return absl::InternalError(
      absl::StrCat("The quarantine folder cannot be used: ", error.message()));
}

// A file's age here counts from its coming, not from its last write.
void Touch(const std::string& path, absl::Time now) {
  const timespec time = absl::ToTimespec(now);
  const timespec times[2] = {time, time};
  (void)::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

}  // namespace

void StrayFiles::Note(const std::string& name, const File& file) {
  Forget(name);
  files_[name] = file;
  by_age_.insert({file.since, name});
  bytes_ += file.bytes;
}

void StrayFiles::Forget(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return;
  bytes_ -= found->second.bytes;
  by_age_.erase({found->second.since, name});
  files_.erase(found);
}

absl::Status StrayFiles::Open(absl::Time now) {
  for (const std::string part : {"media", "conditions"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(PathOf(part), error)) {
      struct stat info = {};
      if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      Note(part + "/" + entry.path().filename().string(),
           {absl::TimeFromTimespec(info.st_mtim), info.st_size});
    }
    if (error && error != std::errc::no_such_file_or_directory) return Failed(error);
  }
  while (!by_age_.empty() && by_age_.begin()->first + kKept <= now) RemoveOldest();
  return absl::OkStatus();
}

absl::Status StrayFiles::Take(const std::string& name, absl::Time now) {
  const std::string from = folder_ + "/" + name, to = PathOf(name);
  struct stat info = {};
  if (::lstat(from.c_str(), &info) != 0) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), error);
  if (!error) std::filesystem::rename(from, to, error);
  if (error) return Failed(error);
  Touch(to, now);
  Note(name, {now, info.st_size});
  return absl::OkStatus();
}

void StrayFiles::GiveBack(const std::string& name) {
  if (!files_.contains(name)) return;
  std::error_code error;
  std::filesystem::rename(PathOf(name), folder_ + "/" + name, error);
  if (!error) Forget(name);
}

void StrayFiles::Free(int64_t bytes) {
  const int64_t goal = bytes_ - bytes;
  while (!by_age_.empty() && bytes_ > goal) RemoveOldest();
}

void StrayFiles::RemoveOldest() {
  const std::string name = by_age_.begin()->second;
  std::error_code ignored;
  std::filesystem::remove(PathOf(name), ignored);
  Forget(name);
}

}  // namespace reel::front
