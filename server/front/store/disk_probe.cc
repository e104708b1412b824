// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/disk_probe.h"

#include <fcntl.h>

#include <cerrno>

#include "server/front/store/media_file.h"

namespace reel::front {
namespace {

constexpr size_t kProbeBytes = 256 << 10;

}  // namespace

absl::Status ProbeDisk(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  // Some file systems have no nameless files: there, only failed results show a bad disk.
  if (file.get() < 0) return errno == EOPNOTSUPP ? absl::OkStatus() : WriteError(errno);
  FileOps ops;
  absl::Status written = WriteAll(ops, file.get(), std::string(kProbeBytes, 'r'));
  if (written.ok() && ops.Sync(file.get()) != 0) written = WriteError(errno);
  return written;
}

}  // namespace reel::front
