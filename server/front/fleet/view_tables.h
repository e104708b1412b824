// SPDX-License-Identifier: Apache-2.0
// The view's tables, and every statement that changes them as a function.
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

// Of a log that lies in a view's own file.
namespace log_table {

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

}  // namespace log_table

namespace view_tables {

// A video's number: its request's sequence, with its place in that request from bit 40 on.
inline constexpr int kPlaceBit = 40;
inline int64_t NumberOf(const FleetJob& job) {
  return static_cast<int64_t>(job.requested | uint64_t{job.place} << kPlaceBit);
}
// SQL for the sequence in it.
#define REEL_REQUEST_OF_NUMBER "(requested & 0xFFFFFFFFFF)"

// Makes the tables of a new file. FAILED_PRECONDITION: another build has made other ones.
absl::Status Prepare(Database& db);

absl::Status WriteProgress(Database& db, const ViewProgress& progress);

// The batch's changes, but for its position. The batch is finished.
absl::Status Apply(Database& db, const ViewBatch& batch);
// Of videos that have ended, `most` at a time, those that expire before `time` leave a trace.
absl::Status ForgetExpired(Database& db, absl::Time time, int most);
// The log begins at `first`: traces, request ids and unreadable videos of what it has forgotten go.
// `keeps_known`: but for request ids of videos that are known. Views of a fleet would then differ
// by when they have read the log.
absl::Status ForgetBefore(Database& db, uint64_t first, bool keeps_known = false);
// All records go, and the progress with them: position 0 of no stream.
absl::Status Clear(Database& db);

}  // namespace view_tables

}  // namespace reel::front
