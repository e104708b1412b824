// SPDX-License-Identifier: Apache-2.0
// Checks that nobody else can reach the file of a secret: a key, a table of tokens.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace reel::front {

struct FileAccess {
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
};

// Empty: it is closed enough, else who can do what to it. The group may read where root owns the
// file or the group is one of `own_groups`, which is how Kubernetes mounts secrets. It may never
// write. All others may do nothing.
std::string WhyNotSecret(const FileAccess& file, const std::vector<gid_t>& own_groups);

// The same of the file that `path` leads to and the groups of this process: PERMISSION_DENIED with
// the mode.
absl::Status CheckSecretFile(const std::string& path);

}  // namespace reel::front
