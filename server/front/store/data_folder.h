// SPDX-License-Identifier: Apache-2.0
// The folder that holds everything that outlives the process: reel.db, media/, conditions/,
// uploads/ and LOCK. A server of a fleet has fleet.db, one that is alone log.db and objects/.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

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
  // Of files on their way in, none of which outlives the process.
  std::string uploads_path() const { return path_ + "/uploads"; }

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

// quarantine/ in the data folder: files that no row of the database knows. They are what is left of
// videos when a database is lost or damaged. They are kept for a while, out of the way, and come
// back when a row knows them again. Room that videos need is theirs: the oldest go first.
// Confined to one thread, but for bytes().
class StrayFiles {
 public:
  static constexpr absl::Duration kKept = absl::Hours(7 * 24);

  // `folder` is the data folder. Nothing is made before the first file is taken.
  explicit StrayFiles(std::string folder) : folder_(std::move(folder)) {}

  // Reads what is there, and removes what has been there for kKept.
  absl::Status Open(absl::Time now);
  // Moves the data folder's file `name`, e.g. "media/x.1.mp4", here.
  absl::Status Take(const std::string& name, absl::Time now);
  // Moves it back, if it is here.
  void GiveBack(const std::string& name);
  // Removes the oldest until at least so many bytes are free, or none is left.
  void Free(int64_t bytes);

  int64_t bytes() const { return bytes_; }
  std::string path() const { return folder_ + "/quarantine"; }

 private:
  struct File {
    absl::Time since;
    int64_t bytes = 0;
  };
  void Note(const std::string& name, const File& file);
  void Forget(const std::string& name);
  void RemoveOldest();
  std::string PathOf(const std::string& name) const { return path() + "/" + name; }

  const std::string folder_;
  std::map<std::string, File> files_;                    // by name
  std::set<std::pair<absl::Time, std::string>> by_age_;  // oldest first
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace reel::front
