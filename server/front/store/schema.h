// SPDX-License-Identifier: Apache-2.0
// Tables and their version.
#pragma once

#include "absl/status/status.h"
#include "server/front/store/sqlite.h"

namespace reel::front {

// Makes the tables of a new file and checks the version of an old one. FAILED_PRECONDITION for a
// newer version, DATA_LOSS for a file that is not a database.
absl::Status PrepareSchema(Database& database);

}  // namespace reel::front
