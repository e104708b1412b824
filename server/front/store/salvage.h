// SPDX-License-Identifier: Apache-2.0
// Salvage of a damaged database: copies what can still be read into a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::front {

class Database;

// What a database is made of.
struct SalvagePlan {
  std::function<absl::Status(Database&)> prepare;  // makes the tables of a new file
  std::vector<std::string> tables;                 // that have row ids
  struct Keyed {
    std::string table, key;  // the columns of its key
  };
  std::vector<Keyed> keyed;  // that have none
  // Lets tables agree with each other in what could be read; null: there is nothing to do.
  std::function<absl::Status(Database&)> mend = nullptr;
};

struct Salvaged {
  int64_t rows = 0;     // of all tables, in the new file
  std::string damaged;  // where the old file is now
};

// Copies every row that can be read of the database `path` to a new file, which takes its place;
// the damaged one stays beside it, as `path`.damaged. DATA_LOSS, and nothing has changed, when it
// is no database any more, or of a version that is not ours. Blocks; nobody else has the file open.
absl::StatusOr<Salvaged> SalvageDatabase(const std::string& path, const SalvagePlan& plan);

}  // namespace reel::front
