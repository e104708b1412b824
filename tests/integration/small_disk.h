// SPDX-License-Identifier: Apache-2.0
// A disk of its own for a data folder, small or read-only; needs the right to mount.
#pragma once

#include <sys/mount.h>

#include <string>

#include "tests/fakes/temp_folder.h"

namespace reel::tests {

class SmallDisk {
 public:
  explicit SmallDisk(unsigned long flags = 0)
      : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", flags, "size=1600k") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::string path(const std::string& below) const { return folder_.File(below); }

 private:
  testing::TempFolder folder_;
  bool mounted_;
};

}  // namespace reel::tests
