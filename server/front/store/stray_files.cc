// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/stray_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace reel::front {
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
