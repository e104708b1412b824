// SPDX-License-Identifier: Apache-2.0
// The view's tables, and one function for each statement that changes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/view_store.h"
#include "server/front/store/sqlite.h"

namespace reel::front {

// The log inside a view's own file.
namespace log_table {

// Creates the table if it is missing.
absl::Status Prepare(Database& db);

// The message stored under a subject.
struct Known {
  uint64_t sequence = 0;
  std::string message_id;
};
absl::StatusOr<std::optional<Known>> Find(Database& db, const std::string& subject);
absl::Status Insert(Database& db, const StoredMessage& message, absl::Time now);
// Deletes messages written before `time`, among the `most` oldest ones.
absl::Status Trim(Database& db, absl::Time time, int most);
// Sequence of the oldest message; 0 if there is none.
absl::StatusOr<uint64_t> First(Database& db);

}  // namespace log_table

namespace view_tables {

// A video's number: the sequence of its request, and from bit 40 on its position in that request.
inline constexpr int kPlaceBit = 40;
inline int64_t NumberOf(const FleetJob& job) {
  return static_cast<int64_t>(job.requested | uint64_t{job.place} << kPlaceBit);
}
// SQL that extracts the sequence.
#define REEL_REQUEST_OF_NUMBER "(requested & 0xFFFFFFFFFF)"

// Creates the tables of a new file. FAILED_PRECONDITION: the file has another build's tables.
absl::Status Prepare(Database& db);

absl::Status WriteProgress(Database& db, const ViewProgress& progress);

// Writes a finished batch's changes, without its position.
absl::Status Apply(Database& db, const ViewBatch& batch);
// Reduces at most `most` ended videos that expire before `time` to traces.
absl::Status ForgetExpired(Database& db, absl::Time time, int most);
// Deletes traces, request ids and unreadable videos from before `first`, where the log now begins.
// `keeps_known` keeps request ids of known videos; in a fleet, views would then differ by when they
// read the log.
absl::Status ForgetBefore(Database& db, uint64_t first, bool keeps_known = false);
// Deletes all records and the progress.
absl::Status Clear(Database& db);

}  // namespace view_tables

}  // namespace reel::front
