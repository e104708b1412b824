// SPDX-License-Identifier: Apache-2.0
// The folder of the workers' socket: ours alone (mode 0700), short, and gone with us. What a killed
// reeld left behind goes when the next one starts.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/front/workers/file_descriptor.h"

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
  // False when somebody has deleted the socket, so that nobody can dial it any more.
  bool HasSocket() const;

 private:
  RuntimeFolder(std::string path, FileDescriptor lock);
  std::string path_;
  // Locked while its process lives. Cleaners of temporary folders that look at locks leave it
  // alone.
  FileDescriptor lock_;
};

}  // namespace reel::front
