// SPDX-License-Identifier: Apache-2.0
// Every statement of the job store, as a function over the database. Confined to the store's
// thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/front/store/job_store.h"
#include "server/front/store/sqlite.h"

namespace reel::front {

// Makes the tables of a new file and checks the version of an old one. FAILED_PRECONDITION for a
// newer version, DATA_LOSS for a file that is not a database.
absl::Status PrepareSchema(Database& database);

namespace rows {

absl::Status Insert(Database& db, const JobRow& row);
absl::Status Update(Database& db, const JobRow& row);
absl::Status Remove(Database& db, const std::string& id);

absl::StatusOr<std::optional<JobRow>> Find(Database& db, const std::string& id);
absl::StatusOr<std::vector<JobRow>> Page(Database& db, const PageQuery& query);
absl::StatusOr<std::vector<JobRow>> Live(Database& db);
absl::StatusOr<std::vector<JobRow>> Expired(Database& db, absl::Time now, int limit);
absl::StatusOr<std::vector<StoredFile>> Files(Database& db);
// Tenants and request ids, as a build before the log has left them.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Tombstones(Database& db);

absl::Status PutBlob(Database& db, const std::string& kind, const std::string& name,
                     const std::string& value);
absl::StatusOr<std::map<std::string, std::string>> Blobs(Database& db, const std::string& kind);

}  // namespace rows

}  // namespace reel::front
