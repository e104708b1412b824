// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_table.h"

#include "kernels/base/status_macros.h"

namespace reel::front::log_table {

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

}  // namespace reel::front::log_table
