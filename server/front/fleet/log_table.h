// SPDX-License-Identifier: Apache-2.0
// The table of a log that lies in a view's own file, and every statement on it as a function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/store/sqlite.h"

namespace reel::front::log_table {

// Makes the table where there is none.
absl::Status Prepare(Database& db);

// What was written under a subject.
struct Known {
  uint64_t sequence = 0;
  std::string message_id;
};
absl::StatusOr<std::optional<Known>> Find(Database& db, const std::string& subject);
absl::Status Insert(Database& db, const StoredMessage& message, absl::Time now);
// Of its oldest `most` messages those go that were written before `time`.
absl::Status Trim(Database& db, absl::Time time, int most);
// Sequence of the oldest message; 0: there is none.
absl::StatusOr<uint64_t> First(Database& db);

}  // namespace reel::front::log_table
