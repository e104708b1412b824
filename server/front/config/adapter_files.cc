// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/adapter_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

absl::StatusOr<std::string> PathBelow(const std::string& root, const std::string& file) {
  const auto error = [&](const char* why) {
    return absl::StrCat("cannot be read: '", file, "' below '", root, "': ", why);
  };
  const FileDescriptor folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return absl::NotFoundError(error(strerror(errno)));
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const FileDescriptor opened(
      static_cast<int>(syscall(SYS_openat2, folder.get(), file.c_str(), &how, sizeof(how))));
  if (opened.get() < 0) {
    if (errno == EXDEV) return absl::InvalidArgumentError(error("it leads out of that folder"));
    return absl::NotFoundError(error(strerror(errno)));
  }
  struct stat info = {};
  if (fstat(opened.get(), &info) != 0) return absl::NotFoundError(error(strerror(errno)));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(error("it is no regular file"));
  std::error_code failed;
  const auto real =
      std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", opened.get()), failed);
  if (failed) return absl::NotFoundError(error(failed.message().c_str()));
  return real.string();
}

std::vector<std::string> ResolveAdapters(config::v1::ServerConfig& config) {
  std::vector<std::string> problems;
  for (int i = 0; i < config.adapters_size(); ++i) {
    config::v1::Adapter& adapter = *config.mutable_adapters(i);
    absl::StatusOr<std::string> path = PathBelow(config.adapter_root(), adapter.file());
    if (path.ok()) {
      adapter.set_file(*std::move(path));
    } else {
      problems.push_back(absl::StrCat("adapters[", i, "].file: ", path.status().message()));
    }
  }
  return problems;
}

}  // namespace reel::front
