// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace reel::front {
namespace {

// The supplementary ones may or may not have the effective one among them.
std::vector<gid_t> OwnGroups() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::max(0, count)));
  groups.push_back(getegid());
  return groups;
}

}  // namespace

std::string WhyNotSecret(const FileAccess& file, const std::vector<gid_t>& own_groups) {
  if ((file.mode & S_IRWXO) != 0) return "every user can reach it";
  if ((file.mode & S_IWGRP) != 0) return "its group can write it";
  if ((file.mode & S_IRWXG) == 0 || file.owner == 0) return "";
  const bool ours = std::count(own_groups.begin(), own_groups.end(), file.group) > 0;
  return ours ? "" : "a group that this process is not in can read it";
}

absl::Status CheckSecretFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be examined: ", path));
  }
  const std::string why = WhyNotSecret({info.st_mode, info.st_uid, info.st_gid}, OwnGroups());
  if (why.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrFormat(
      "The file is open to others: %s has %04o, %s; set its mode to 0600, or to 0440 with an owner "
      "root or a group of this process",
      path, static_cast<unsigned>(info.st_mode) & 07777U, why));
}

}  // namespace reel::front
