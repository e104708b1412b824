// SPDX-License-Identifier: Apache-2.0
// The view's tables, and every statement that changes them as a function.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/fleet/view_batch.h"
#include "server/front/store/sqlite.h"

namespace reel::front::view_tables {

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

}  // namespace reel::front::view_tables
