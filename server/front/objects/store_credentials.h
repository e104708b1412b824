// SPDX-License-Identifier: Apache-2.0
// Credentials of the object store, from a file that is read again when it has changed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/config/secret_files.h"

namespace reel::front {

// Thread-safe.
class StoreCredentials {
 public:
  explicit StoreCredentials(std::string path) : path_(std::move(path)) {}

  // Where the file has become bad the last good ones stay, and the log says so once.
  absl::StatusOr<KeyPair> Get();

 private:
  // Which file it is, and when it was written: a mount of secrets swaps files of one size.
  using Mark = std::tuple<dev_t, ino_t, int64_t, int64_t, int64_t, mode_t>;
  static std::optional<Mark> MarkOf(const std::string& path);

  const std::string path_;
  Mutex mutex_;
  std::optional<Mark> read_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<KeyPair> pair_ ABSL_GUARDED_BY(mutex_) =
      absl::UnknownError("the file has not been read");
};

}  // namespace reel::front
