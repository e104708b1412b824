// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/view_salvage.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/front/fleet/log_table.h"
#include "server/front/fleet/subjects.h"
#include "server/front/fleet/view_queries.h"
#include "server/front/fleet/view_tables.h"
#include "server/front/store/sqlite.h"

namespace reel::front::view_tables {
namespace {

// Its first row is the damaged file's, if that can be read.
absl::Status Make(Database& db) {
  REEL_RETURN_IF_ERROR(Prepare(db));
  REEL_RETURN_IF_ERROR(log_table::Prepare(db));
  return db.Execute("DELETE FROM progress");
}

absl::StatusOr<bool> IsKnown(Database& db, const LogSubject& subject) {
  const Key key{subject.tenant, subject.id};
  if (subject.kind == LogKind::kBinding) {
    REEL_ASSIGN_OR_RETURN(const auto binding, FindBinding(db, key));
    return binding.has_value();
  }
  REEL_ASSIGN_OR_RETURN(const auto video, FindVideo(db, key));
  if (video) return true;
  REEL_ASSIGN_OR_RETURN(const auto trace, FindTrace(db, key));
  return trace.has_value();
}

absl::Status Mend(Database& db) {
  REEL_RETURN_IF_ERROR(db.Execute(
      "DELETE FROM bindings WHERE NOT EXISTS (SELECT 1 FROM videos WHERE videos.id = "
      "bindings.video AND videos.tenant = bindings.tenant) AND NOT EXISTS (SELECT 1 FROM traces "
      "WHERE traces.id = bindings.video AND traces.tenant = bindings.tenant)"));
  // No sequence is given again.
  REEL_RETURN_IF_ERROR(db.Execute(
      "INSERT OR IGNORE INTO progress VALUES (1, 0, 0, ''); UPDATE progress SET position = "
      "max(position, (SELECT coalesce(max(sequence), 0) FROM log), (SELECT "
      "coalesce(max(requested), 0) FROM videos))"));
  std::vector<std::pair<int64_t, std::string>> messages;
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT sequence, subject FROM log"));
  REEL_RETURN_IF_ERROR(query->ForEachRow(
      [&](const Statement& from) { messages.emplace_back(from.GetInt(0), from.GetBytes(1)); }));
  for (const auto& [sequence, text] : messages) {
    const absl::StatusOr<LogSubject> subject = ParseSubject(text);
    if (!subject.ok()) continue;
    REEL_ASSIGN_OR_RETURN(const bool known, IsKnown(db, *subject));
    if (known) continue;
    REEL_ASSIGN_OR_RETURN(Statement * remove, db.Use("DELETE FROM log WHERE sequence = ?"));
    REEL_RETURN_IF_ERROR(remove->Int(sequence).Run());
  }
  return absl::OkStatus();
}

}  // namespace

SalvagePlan PlanOfLog() {
  return {Make,
          {"videos", "log"},
          {{"progress", "one"},
           {"traces", "id, tenant"},
           {"bindings", "request_id, tenant"},
           {"paces", "model"}},
          Mend};
}

}  // namespace reel::front::view_tables
