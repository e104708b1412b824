// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/job_rows.h"

#include <cstring>

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

namespace rows {
namespace {

#define REEL_JOB_COLUMNS                                                             \
  "id, tenant, request_id, spec_hash, state, attempt, num_conditions, create_time, " \
  "expire_time, last_sequence, media_bytes, fragment_ends, video, block_sums"

// Little-endian on every machine that Reel runs on; a data folder does not travel between kinds.
template <typename T>
std::string Pack(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> Unpack(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

JobRow Read(const Statement& from) {
  JobRow row;
  row.id = from.GetBytes(0);
  row.tenant = from.GetBytes(1);
  row.request_id = from.GetBytes(2);
  row.spec_hash = from.GetBytes(3);
  row.state = static_cast<VideoState>(from.GetInt(4));
  row.attempt = static_cast<int>(from.GetInt(5));
  row.num_conditions = static_cast<int>(from.GetInt(6));
  row.create_time = from.GetTime(7, absl::InfinitePast());
  row.expire_time = from.GetTime(8, absl::InfiniteFuture());
  row.last_sequence = static_cast<uint64_t>(from.GetInt(9));
  row.media_bytes = from.GetInt(10);
  row.fragment_ends = Unpack<int64_t>(from.GetBytes(11));
  row.video = from.GetBytes(12);
  row.block_sums = Unpack<uint32_t>(from.GetBytes(13));
  return row;
}

absl::StatusOr<std::vector<JobRow>> ReadAll(Statement& query) {
  std::vector<JobRow> found;
  REEL_RETURN_IF_ERROR(
      query.ForEachRow([&](const Statement& from) { found.push_back(Read(from)); }));
  return found;
}

absl::Status AddRestarts(Database& db, const JobRow& row) {
  for (const RestartRow& restart : row.restarts) {
    REEL_ASSIGN_OR_RETURN(Statement * add,
                          db.Use("INSERT OR IGNORE INTO restarts (job, sequence, time, reason, "
                                 "attempt) VALUES (?, ?, ?, ?, ?)"));
    add->Text(row.id).Int(static_cast<int64_t>(restart.sequence)).Time(restart.time);
    REEL_RETURN_IF_ERROR(add->Text(restart.reason).Int(restart.attempt).Run());
  }
  return absl::OkStatus();
}

absl::Status ReadRestarts(Database& db, JobRow& row) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT sequence, time, reason, attempt FROM restarts WHERE job = ? "
                               "ORDER BY sequence"));
  query->Text(row.id);
  REEL_RETURN_IF_ERROR(query->ForEachRow([&](const Statement& from) {
    RestartRow& restart = row.restarts.emplace_back();
    restart.sequence = static_cast<uint64_t>(from.GetInt(0));
    restart.time = from.GetTime(1, absl::InfinitePast());
    restart.reason = from.GetBytes(2);
    restart.attempt = static_cast<int>(from.GetInt(3));
  }));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<JobRow>> ReadOne(Database& db, Statement& query) {
  REEL_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return std::optional<JobRow>();
  JobRow row = Read(query);
  query.Reset();
  REEL_RETURN_IF_ERROR(ReadRestarts(db, row));
  return std::optional<JobRow>(std::move(row));
}

}  // namespace

// What the log of videos has instead of the row is left empty.
absl::Status Insert(Database& db, const JobRow& row) {
  REEL_ASSIGN_OR_RETURN(
      Statement * insert,
      db.Use("INSERT INTO jobs (id, tenant, spec_hash, state, attempt, bound, num_conditions, "
             "create_time, expire_time, reserved_sequence, last_sequence, media_bytes, "
             "fragment_ends, video, block_sums) "
             "VALUES (?, ?, '', ?, ?, 0, ?, ?, ?, 0, ?, ?, ?, ?, ?)"));
  insert->Text(row.id).Text(row.tenant).Int(static_cast<int>(row.state)).Int(row.attempt);
  insert->Int(row.num_conditions).Time(row.create_time).Time(row.expire_time);
  insert->Int(static_cast<int64_t>(row.last_sequence)).Int(row.media_bytes);
  insert->Blob(Pack(row.fragment_ends)).Blob(row.video).Blob(Pack(row.block_sums));
  REEL_RETURN_IF_ERROR(insert->Run());
  return AddRestarts(db, row);
}

absl::Status Update(Database& db, const JobRow& row) {
  REEL_ASSIGN_OR_RETURN(
      Statement * update,
      db.Use("UPDATE jobs SET state = ?, attempt = ?, num_conditions = ?, expire_time = ?, "
             "last_sequence = ?, media_bytes = ?, fragment_ends = ?, video = ?, block_sums = ? "
             "WHERE id = ?"));
  update->Int(static_cast<int>(row.state)).Int(row.attempt).Int(row.num_conditions);
  update->Time(row.expire_time).Int(static_cast<int64_t>(row.last_sequence)).Int(row.media_bytes);
  update->Blob(Pack(row.fragment_ends)).Blob(row.video).Blob(Pack(row.block_sums));
  REEL_RETURN_IF_ERROR(update->Text(row.id).Run());
  return AddRestarts(db, row);
}

absl::Status Remove(Database& db, const std::string& id) {
  for (const char* sql : {"DELETE FROM restarts WHERE job = ?", "DELETE FROM jobs WHERE id = ?"}) {
    REEL_ASSIGN_OR_RETURN(Statement * remove, db.Use(sql));
    REEL_RETURN_IF_ERROR(remove->Text(id).Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<JobRow>> Find(Database& db, const std::string& id) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT " REEL_JOB_COLUMNS " FROM jobs WHERE id = ?"));
  return ReadOne(db, query->Text(id));
}

absl::StatusOr<std::vector<JobRow>> Page(Database& db, const PageQuery& query) {
  // The states as a mask, so that one statement serves every filter.
  int64_t mask = 0;
  for (VideoState state : query.states) mask |= int64_t{1} << static_cast<int>(state);
  if (query.states.empty()) mask = 0xFF;
#define REEL_PAGE(of_tenant, beyond, order)                                            \
  "SELECT " REEL_JOB_COLUMNS " FROM jobs WHERE " of_tenant "(create_time, id) " beyond \
  " (?, ?) AND ((1 << state) & ?) != 0 ORDER BY create_time " order ", id " order " LIMIT ?"
  constexpr const char* kOfOne = REEL_PAGE("tenant = ? AND ", "<", "DESC");
  constexpr const char* kOfAll = REEL_PAGE("", "<", "DESC");
  constexpr const char* kOldestOfOne = REEL_PAGE("tenant = ? AND ", ">", "ASC");
  constexpr const char* kOldestOfAll = REEL_PAGE("", ">", "ASC");
#undef REEL_PAGE
  REEL_ASSIGN_OR_RETURN(Statement * page,
                        db.Use(query.oldest_first ? (query.tenant ? kOldestOfOne : kOldestOfAll)
                                                  : (query.tenant ? kOfOne : kOfAll)));
  if (query.tenant) page->Text(*query.tenant);
  if (query.before_id.empty()) {
    page->Int(query.oldest_first ? INT64_MIN : INT64_MAX).Text("");
  } else {
    page->Time(query.before_time).Text(query.before_id);
  }
  return ReadAll(page->Int(mask).Int(query.limit));
}

absl::StatusOr<std::vector<JobRow>> Live(Database& db) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT " REEL_JOB_COLUMNS " FROM jobs WHERE state < 2 ORDER BY create_time, id"));
  REEL_ASSIGN_OR_RETURN(std::vector<JobRow> found, ReadAll(*query));
  for (JobRow& row : found) REEL_RETURN_IF_ERROR(ReadRestarts(db, row));
  return found;
}

absl::StatusOr<std::vector<JobRow>> Expired(Database& db, absl::Time now, int limit) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT " REEL_JOB_COLUMNS
                               " FROM jobs WHERE expire_time IS NOT NULL AND expire_time <= ? "
                               "ORDER BY expire_time LIMIT ?"));
  return ReadAll(query->Time(now).Int(limit));
}

absl::StatusOr<std::vector<StoredFile>> Files(Database& db) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT id, tenant, attempt, state, num_conditions, media_bytes FROM jobs"));
  std::vector<StoredFile> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow([&](const Statement& from) {
    StoredFile& file = found.emplace_back();
    file.id = from.GetBytes(0);
    file.tenant = from.GetBytes(1);
    file.attempt = static_cast<int>(from.GetInt(2));
    file.finished = from.GetInt(3) == static_cast<int>(VideoState::kSucceeded);
    file.num_conditions = static_cast<int>(from.GetInt(4));
    file.media_bytes = from.GetInt(5);
  }));
  return found;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Tombstones(Database& db) {
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT tenant, request_id FROM tombstones"));
  std::vector<std::pair<std::string, std::string>> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow(
      [&](const Statement& from) { found.emplace_back(from.GetBytes(0), from.GetBytes(1)); }));
  return found;
}

absl::Status PutBlob(Database& db, const std::string& kind, const std::string& name,
                     const std::string& value) {
  REEL_ASSIGN_OR_RETURN(
      Statement * put, db.Use("INSERT OR REPLACE INTO blobs (kind, name, value) VALUES (?, ?, ?)"));
  return put->Text(kind).Text(name).Blob(value).Run();
}

absl::StatusOr<std::map<std::string, std::string>> Blobs(Database& db, const std::string& kind) {
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT name, value FROM blobs WHERE kind = ?"));
  query->Text(kind);
  std::map<std::string, std::string> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow(
      [&](const Statement& from) { found[from.GetBytes(0)] = from.GetBytes(1); }));
  return found;
}

}  // namespace rows

}  // namespace reel::front
