// SPDX-License-Identifier: Apache-2.0
// The folder of the workers' socket: ours alone (mode 0700), short, and gone with us.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

class RuntimeFolder {
 public:
  // Inside `base` (the user's run-time folder); in /tmp when that is empty, too long for a socket
  // or not writable.
  static absl::StatusOr<RuntimeFolder> Make(const std::string& base);
  RuntimeFolder(RuntimeFolder&& other) noexcept;
  RuntimeFolder& operator=(RuntimeFolder&&) = delete;
  ~RuntimeFolder();

  std::string socket() const { return path_ + "/w.sock"; }

 private:
  explicit RuntimeFolder(std::string path);
  std::string path_;
};

}  // namespace reel::front
