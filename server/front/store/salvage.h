// SPDX-License-Identifier: Apache-2.0
// What can still be read of a damaged database, in a new one.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

struct Salvaged {
  int64_t rows = 0;     // of all tables, in the new file
  std::string damaged;  // where the old file is now
};

// Copies every row that can be read of the database `path` to a new file, which takes its place;
// the damaged one stays beside it, as `path`.damaged. DATA_LOSS, and nothing has changed, when it
// is no database any more, or of a version that is not ours. Blocks; nobody else has the file open.
absl::StatusOr<Salvaged> SalvageDatabase(const std::string& path);

}  // namespace reel::front
