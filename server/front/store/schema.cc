// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/schema.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::front {
namespace {

constexpr int kVersion = 3;

constexpr char kTables[] = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  tenant TEXT NOT NULL,
  request_id TEXT,
  spec_hash TEXT NOT NULL,
  state INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  bound INTEGER NOT NULL,
  num_conditions INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  expire_time INTEGER,
  reserved_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  media_bytes INTEGER NOT NULL,
  fragment_ends BLOB NOT NULL,
  video BLOB NOT NULL,
  block_sums BLOB NOT NULL DEFAULT x''
);
CREATE UNIQUE INDEX jobs_by_request ON jobs (tenant, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX jobs_by_age ON jobs (tenant, create_time, id);
CREATE INDEX jobs_live ON jobs (create_time) WHERE state < 2;
CREATE INDEX jobs_by_expiry ON jobs (expire_time) WHERE expire_time IS NOT NULL;
CREATE TABLE restarts (
  job TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  time INTEGER NOT NULL,
  reason TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (job, sequence)
) WITHOUT ROWID;
CREATE TABLE tombstones (
  tenant TEXT NOT NULL,
  request_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (tenant, request_id)
) WITHOUT ROWID;
CREATE TABLE blobs (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
PRAGMA user_version = 3;
COMMIT;
)sql";

// Later indexes: any version may lack them, and an older server that opens the file keeps them.
constexpr char kIndexes[] = "CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (create_time, id);";

// Files of version 1 have no sums of their blocks: of them the size alone is checked.
constexpr char kFromVersion1[] = R"sql(
BEGIN IMMEDIATE;
ALTER TABLE jobs ADD COLUMN block_sums BLOB NOT NULL DEFAULT x'';
PRAGMA user_version = 2;
COMMIT;
)sql";

// Up to version 2 every server called itself r0 and kept no name: such names stay this folder's.
constexpr char kFromVersion2[] = R"sql(
BEGIN IMMEDIATE;
INSERT OR IGNORE INTO blobs (kind, name, value) VALUES ('replica', 'r0', CAST('configured' AS BLOB));
PRAGMA user_version = 3;
COMMIT;
)sql";

}  // namespace

absl::Status PrepareSchema(Database& database) {
  REEL_RETURN_IF_ERROR(database.Execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;"));
  REEL_ASSIGN_OR_RETURN(const int64_t version, database.QueryInt("PRAGMA user_version"));
  if (version < 0 || version > kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("The data folder was written by another version of Reel: its database has "
                     "version ",
                     version, ", this reeld knows ", kVersion));
  }
  if (version == 0) REEL_RETURN_IF_ERROR(database.Execute(kTables));
  if (version == 1) REEL_RETURN_IF_ERROR(database.Execute(kFromVersion1));
  if (version == 1 || version == 2) REEL_RETURN_IF_ERROR(database.Execute(kFromVersion2));
  return database.Execute(kIndexes);
}

}  // namespace reel::front
