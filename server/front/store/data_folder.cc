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

}  // namespace reel::front
