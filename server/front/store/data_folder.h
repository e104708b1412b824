// SPDX-License-Identifier: Apache-2.0
// The folder that holds everything that outlives the process: reel.db, media/, conditions/ and
// LOCK. A server of a fleet has fleet.db, one that is alone log.db and objects/.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

// Made (mode 0700) and locked for as long as the object lives; the lock goes with the process,
// however it ends. Movable.
class DataFolder {
 public:
  // FAILED_PRECONDITION when another process holds it.
  static absl::StatusOr<DataFolder> Open(const std::string& path);
  ~DataFolder();
  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&& other) noexcept;

  const std::string& path() const { return path_; }
  std::string database_path() const { return path_ + "/reel.db"; }
  std::string fleet_view_path() const { return path_ + "/fleet.db"; }
  std::string log_path() const { return path_ + "/log.db"; }
  std::string objects_path() const { return path_ + "/objects"; }

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

}  // namespace reel::front
