// SPDX-License-Identifier: Apache-2.0
// A look at the files of `tls` for each new connection: whether they hold something new and good.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/config/tls_files.h"

namespace reel::front {

// Thread-safe.
class TlsWatch {
 public:
  // `valid_until` hears, on any thread, until when each certificate that is taken holds; may be
  // empty.
  TlsWatch(const TlsOptions& options, std::function<void(absl::Time)> valid_until);

  // Three stat calls, and a read after a renewal. Problems of new files are told once for each
  // version of them; whatever was given last serves on.
  std::vector<std::string> Look(std::optional<TlsFiles>& fresh);
  // The same, with the problems in the log.
  std::optional<TlsFiles> Renewed();

  const TlsOptions& options() const { return options_; }

 private:
  // Which version of a file this is.
  struct Stamp {
    ino_t inode = 0;
    off_t size = 0;
    time_t seconds = 0;
    int64_t nanos = 0;
    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::array<Stamp, 3>;

  static Stamp StampOf(const std::string& path);
  Stamps Now() const;

  const TlsOptions options_;
  const std::function<void(absl::Time)> valid_until_;
  Mutex mutex_;
  std::optional<Stamps> seen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
