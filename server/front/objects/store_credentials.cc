// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/store_credentials.h"

#include <sys/stat.h>

#include <utility>

#include "server/logging/log.h"

namespace reel::front {

std::optional<StoreCredentials::Mark> StoreCredentials::MarkOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return Mark{info.st_dev,         info.st_ino,          info.st_size,
              info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_mode};
}

absl::StatusOr<KeyPair> StoreCredentials::Get() {
  const MutexLock lock(mutex_);
  const std::optional<Mark> mark = MarkOf(path_);
  if (mark && mark == read_) return pair_;
  absl::StatusOr<KeyPair> pair = ReadKeyPair(path_);
  const bool has_old = pair_.ok();
  if (pair.ok() && has_old) {
    Log(LogLevel::kInfo, "read the object store's credentials again", {{"file", path_}});
  }
  if (!pair.ok() && has_old && mark != read_) {
    Log(LogLevel::kError, "The object store's credentials are invalid; the old ones stay in use",
        {{"error", pair.status()}});
  }
  read_ = mark;
  if (pair.ok() || !has_old) pair_ = std::move(pair);
  return pair_;
}

}  // namespace reel::front
