// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/view_tables.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/view_queries.h"

namespace reel::front {

namespace log_table {

absl::Status Prepare(Database& db) {
  return db.Execute(
      "CREATE TABLE IF NOT EXISTS log (sequence INTEGER PRIMARY KEY, subject TEXT NOT NULL UNIQUE, "
      "message_id TEXT NOT NULL, time INTEGER NOT NULL, payload BLOB NOT NULL)");
}

absl::StatusOr<std::optional<Known>> Find(Database& db, const std::string& subject) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT sequence, message_id FROM log WHERE subject = ?"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Text(subject).Step());
  std::optional<Known> found;
  if (there) found = {static_cast<uint64_t>(query->GetInt(0)), query->GetBytes(1)};
  query->Reset();
  return found;
}

absl::Status Insert(Database& db, const StoredMessage& message, absl::Time now) {
  REEL_ASSIGN_OR_RETURN(Statement * insert,
                        db.Use("INSERT INTO log (sequence, subject, message_id, time, payload) "
                               "VALUES (?,?,?,?,?)"));
  insert->Int(static_cast<int64_t>(message.sequence)).Text(message.subject);
  return insert->Text(message.message_id).Time(now).Blob(message.payload).Run();
}

absl::Status Trim(Database& db, absl::Time time, int most) {
  REEL_ASSIGN_OR_RETURN(Statement * remove,
                        db.Use("DELETE FROM log WHERE time < ? AND sequence IN (SELECT sequence "
                               "FROM log ORDER BY sequence LIMIT ?)"));
  return remove->Int(absl::ToUnixNanos(time)).Int(most).Run();
}

absl::StatusOr<uint64_t> First(Database& db) {
  REEL_ASSIGN_OR_RETURN(const int64_t first,
                        db.QueryInt("SELECT coalesce(min(sequence), 0) FROM log"));
  return static_cast<uint64_t>(first);
}

}  // namespace log_table

namespace view_tables {
namespace {

constexpr int kVersion = 2;

// `requested` is a video's number, so that new rows are adjacent.
constexpr char kTables[] = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE progress (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  position INTEGER NOT NULL,
  created INTEGER NOT NULL,
  keys TEXT NOT NULL
);
CREATE TABLE videos (
  requested INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  phase INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  begun INTEGER NOT NULL,
  owner TEXT NOT NULL,
  address TEXT NOT NULL,
  wish INTEGER,
  wish_video BLOB NOT NULL,
  deleted INTEGER NOT NULL,
  caller_node TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  object TEXT NOT NULL,
  no_room TEXT NOT NULL,
  readable INTEGER NOT NULL,
  locked INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL,
  device_nanos INTEGER NOT NULL,
  video BLOB NOT NULL,
  source TEXT NOT NULL DEFAULT '',
  state_bytes INTEGER NOT NULL DEFAULT 0,
  state_expire_time INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX videos_by_name ON videos (id, tenant);
CREATE INDEX videos_live ON videos (requested) WHERE phase < 2;
CREATE INDEX videos_by_age ON videos (phase, create_time, id, expire_time) WHERE readable AND NOT deleted;
CREATE INDEX videos_by_tenant ON videos (tenant, phase, create_time, id, expire_time) WHERE readable AND NOT deleted;
CREATE INDEX videos_by_expiry ON videos (expire_time) WHERE phase > 1 AND readable;
CREATE INDEX videos_unreadable ON videos (requested) WHERE phase > 1 AND NOT readable;
CREATE INDEX videos_billed ON videos (end_time, tenant, device_nanos) WHERE device_nanos > 0;
CREATE TABLE traces (
  id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  phase INTEGER NOT NULL,
  requested INTEGER NOT NULL,
  PRIMARY KEY (id, tenant)
) WITHOUT ROWID;
CREATE INDEX traces_by_request ON traces (requested);
CREATE TABLE bindings (
  request_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  number INTEGER NOT NULL,
  video TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (request_id, tenant)
) WITHOUT ROWID;
CREATE INDEX bindings_by_sequence ON bindings (sequence);
CREATE TABLE paces (
  model TEXT PRIMARY KEY,
  device_nanos INTEGER NOT NULL,
  work INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO progress VALUES (1, 0, 0, '');
)sql";

// Videos of version 1 continue no others and keep no states.
constexpr char kFromVersion1[] = R"sql(
BEGIN IMMEDIATE;
ALTER TABLE videos ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE videos ADD COLUMN state_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE videos ADD COLUMN state_expire_time INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr char kSinceVersion2[] =
    "CREATE INDEX videos_by_source ON videos (tenant, source, " REEL_REQUEST_OF_NUMBER
    " DESC) WHERE source != '';"
    R"sql(
CREATE INDEX videos_with_state ON videos (tenant, state_expire_time, state_bytes) WHERE state_bytes > 0 AND NOT deleted;
PRAGMA user_version = 2;
COMMIT;
)sql";

// Infinities become the ends of the scale, so that they compare.
int64_t Nanos(absl::Time time) { return absl::ToUnixNanos(time); }
int64_t NanosOf(double seconds) { return static_cast<int64_t>(seconds * 1e9); }
// "count size name" for each; a name may hold any bytes.
std::string WriteCounts(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    absl::StrAppend(&text, count, " ", name.size(), " ", name);
  }
  return text;
}

void BindJob(Statement& to, const FleetJob& job) {
  to.Int(static_cast<int64_t>(job.phase)).Int(job.epoch).Int(job.begun);
  to.Text(job.owner).Text(job.address);
  job.wish ? to.Int(static_cast<int64_t>(*job.wish)) : to.Null();
  to.Blob(job.wish_video).Int(job.deleted);
  to.Text(job.caller_node).Int(static_cast<int64_t>(job.last_sequence)).Text(job.object);
  to.Text(WriteCounts(job.no_room));
}

void BindFacts(Statement& to, const FleetJob& job, const VideoFacts& facts) {
  // A live video has no expiry yet.
  const bool ended = HasEnded(job.phase);
  to.Int(facts.readable).Int(facts.locked);
  to.Int(Nanos(facts.create_time)).Int(Nanos(facts.end_time));
  to.Int(ended ? Nanos(facts.expire_time) : INT64_MAX);
  to.Int(ended ? NanosOf(facts.device_seconds) : 0);
  to.Text(facts.source).Int(facts.state_bytes).Int(Nanos(facts.state_expire_time));
}

absl::Status Insert(Database& db, const Key& key, const ViewBatch::Change& change) {
  REEL_ASSIGN_OR_RETURN(Statement * insert,
                        db.Use("INSERT INTO videos (requested, tenant, id, phase, epoch, begun, "
                               "owner, address, wish, wish_video, deleted, caller_node, "
                               "last_sequence, object, no_room, readable, locked, create_time, "
                               "end_time, expire_time, device_nanos, source, state_bytes, "
                               "state_expire_time, video) VALUES "
                               "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  insert->Int(NumberOf(change.job)).Text(key.first).Text(key.second);
  BindJob(*insert, change.job);
  BindFacts(*insert, change.job, change.facts);
  insert->Blob(change.job.video);
  return insert->Run();
}

absl::Status Update(Database& db, const ViewBatch::Change& change) {
  REEL_ASSIGN_OR_RETURN(
      Statement * update,
      db.Use("UPDATE videos SET phase = ?, epoch = ?, begun = ?, owner = ?, address = ?, wish = ?, "
             "wish_video = ?, deleted = ?, caller_node = ?, last_sequence = ?, object = ?, "
             "no_room = ? WHERE requested = ?"));
  BindJob(*update, change.job);
  update->Int(NumberOf(change.job));
  REEL_RETURN_IF_ERROR(update->Run());
  if (change.ended) {
    REEL_ASSIGN_OR_RETURN(
        Statement * facts,
        db.Use("UPDATE videos SET readable = ?, locked = ?, create_time = ?, end_time = ?, "
               "expire_time = ?, device_nanos = ?, source = ?, state_bytes = ?, "
               "state_expire_time = ? WHERE requested = ?"));
    BindFacts(*facts, change.job, change.facts);
    REEL_RETURN_IF_ERROR(facts->Int(NumberOf(change.job)).Run());
  }
  if (!change.ended && !change.deleted) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(Statement * bytes,
                        db.Use("UPDATE videos SET video = ? WHERE requested = ?"));
  return bytes->Blob(change.job.video).Int(NumberOf(change.job)).Run();
}

absl::Status PutBinding(Database& db, const Key& key, const FleetBinding& binding) {
  REEL_ASSIGN_OR_RETURN(Statement * put,
                        db.Use("INSERT OR REPLACE INTO bindings (request_id, tenant, number, "
                               "video, spec_hash, sequence) VALUES (?,?,?,?,?,?)"));
  put->Text(key.second).Text(key.first).Int(binding.number).Text(binding.video);
  return put->Text(binding.spec_hash).Int(static_cast<int64_t>(binding.sequence)).Run();
}

absl::Status LearnPaces(Database& db, const ViewBatch& batch) {
  if (batch.ends().empty()) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(auto paces, Paces(db));
  for (const Key& key : batch.ends()) {
    const ViewBatch::Change& change = batch.changes().at(key);
    if (change.job.phase != FleetPhase::kSucceeded || !change.facts.readable) continue;
    paces[change.facts.model].Learn(change.facts.work, change.facts.device_seconds);
  }
  for (const auto& [model, pace] : paces) {
    REEL_ASSIGN_OR_RETURN(
        Statement * put,
        db.Use("INSERT OR REPLACE INTO paces (model, device_nanos, work) VALUES (?,?,?)"));
    put->Text(model).Int(NanosOf(pace.seconds)).Int(static_cast<int64_t>(pace.work));
    REEL_RETURN_IF_ERROR(put->Run());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Prepare(Database& db) {
  // A commit need not survive a power loss: the log has its content.
  REEL_RETURN_IF_ERROR(
      db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA "
                 "journal_size_limit = 16777216;"
                 "PRAGMA temp_store = MEMORY;"));
  REEL_ASSIGN_OR_RETURN(const int64_t version, db.QueryInt("PRAGMA user_version"));
  if (version == kVersion) return absl::OkStatus();
  if (version != 0 && version != 1) {
    return absl::FailedPreconditionError("another build has made the view");
  }
  const std::string made = std::string(version == 0 ? kTables : kFromVersion1) + kSinceVersion2;
  return db.Execute(made.c_str());
}

absl::Status WriteProgress(Database& db, const ViewProgress& progress) {
  REEL_ASSIGN_OR_RETURN(Statement * update,
                        db.Use("UPDATE progress SET position = ?, created = ?, keys = ?"));
  return update->Int(static_cast<int64_t>(progress.position))
      .Int(progress.created)
      .Text(progress.keys)
      .Run();
}

absl::Status Apply(Database& db, const ViewBatch& batch) {
  for (const auto& [key, change] : batch.changes()) {
    REEL_RETURN_IF_ERROR(change.is_new ? Insert(db, key, change) : Update(db, change));
  }
  for (const auto& [key, binding] : batch.bindings()) {
    REEL_RETURN_IF_ERROR(PutBinding(db, key, binding));
  }
  return LearnPaces(db, batch);
}

absl::Status ForgetExpired(Database& db, absl::Time time, int most) {
  REEL_ASSIGN_OR_RETURN(
      Statement * trace,
      db.Use("INSERT OR REPLACE INTO traces (id, tenant, phase, requested) SELECT id, tenant, "
             "phase, " REEL_REQUEST_OF_NUMBER
             " FROM videos WHERE phase > 1 AND readable AND expire_time < ? ORDER "
             "BY expire_time LIMIT ?"));
  REEL_RETURN_IF_ERROR(trace->Int(Nanos(time)).Int(most).Run());
  REEL_ASSIGN_OR_RETURN(
      Statement * remove,
      db.Use("DELETE FROM videos WHERE requested IN (SELECT requested FROM videos WHERE phase > 1 "
             "AND readable AND expire_time < ? ORDER BY expire_time LIMIT ?)"));
  return remove->Int(Nanos(time)).Int(most).Run();
}

absl::Status ForgetBefore(Database& db, uint64_t first, bool keeps_known) {
  const char* const bindings =
      keeps_known ? "DELETE FROM bindings WHERE sequence < ? AND NOT EXISTS (SELECT 1 FROM videos "
                    "WHERE videos.id = bindings.video AND videos.tenant = bindings.tenant)"
                  : "DELETE FROM bindings WHERE sequence < ?";
  for (const char* const sql :
       {"DELETE FROM traces WHERE requested < ?", bindings,
        "DELETE FROM videos WHERE phase > 1 AND NOT readable AND " REEL_REQUEST_OF_NUMBER " < ?"}) {
    REEL_ASSIGN_OR_RETURN(Statement * remove, db.Use(sql));
    REEL_RETURN_IF_ERROR(remove->Int(static_cast<int64_t>(first)).Run());
  }
  return absl::OkStatus();
}

absl::Status Clear(Database& db) {
  REEL_RETURN_IF_ERROR(db.Execute(
      "DELETE FROM videos; DELETE FROM traces; DELETE FROM bindings; DELETE FROM paces;"));
  return WriteProgress(db, {});
}

}  // namespace view_tables

}  // namespace reel::front
