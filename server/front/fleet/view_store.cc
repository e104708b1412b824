// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/view_store.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/front/fleet/subjects.h"
#include "server/front/fleet/view_queries.h"
#include "server/front/fleet/view_tables.h"
#include "server/front/store/sqlite.h"
#include "server/logging/log.h"

namespace reel::front {

absl::StatusOr<std::unique_ptr<ViewStore>> ViewStore::TryOpen(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<Database> writer, Database::Open(path));
  REEL_RETURN_IF_ERROR(view_tables::Prepare(*writer));
  REEL_RETURN_IF_ERROR(view_tables::ReadProgress(*writer).status());
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<Database> reader, Database::OpenAgain(path));
  return std::unique_ptr<ViewStore>(new ViewStore(std::make_shared<Connection>(std::move(writer)),
                                                  std::make_shared<Connection>(std::move(reader))));
}

absl::StatusOr<std::unique_ptr<ViewStore>> ViewStore::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ViewStore>> opened = TryOpen(path);
  if (opened.ok()) return opened;
  Log(LogLevel::kWarning, "The kept view of the fleet cannot be used and is made anew",
      {{"file", path}, {"error", opened.status()}});
  Remove(path);
  return TryOpen(path);
}

// Reads the whole file, since damage found now can still be salvaged.
absl::StatusOr<std::unique_ptr<ViewStore>> ViewStore::OpenWhole(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<ViewStore> store, TryOpen(path));
  const MutexLock lock(store->writer_->mutex);
  REEL_ASSIGN_OR_RETURN(const std::string wrong,
                        store->writer_->database->QueryText("PRAGMA quick_check(1)"));
  if (wrong != "ok") return absl::DataLossError(wrong);
  return store;
}

absl::StatusOr<std::unique_ptr<ViewStore>> ViewStore::OpenOnlyCopy(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ViewStore>> opened = OpenWhole(path);
  if (absl::IsDataLoss(opened.status())) {
    const auto salvaged = SalvageDatabase(path, view_tables::PlanOfLog());
    if (!salvaged.ok()) return opened;
    Log(LogLevel::kError,
        "The log was damaged. Every record that could be read is in a new one; videos of the "
        "others "
        "are lost. The damaged file is kept until the next time",
        {{"records", salvaged->rows}, {"damaged", salvaged->damaged}, {"error", opened.status()}});
    opened = OpenWhole(path);
  }
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<ViewStore> store, std::move(opened));
  const MutexLock lock(store->writer_->mutex);
  // A checkpoint delays the commit that triggers it, so there is one every 16 MiB.
  REEL_RETURN_IF_ERROR(store->writer_->database->Execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000"));
  return store;
}

void ViewStore::Remove(const std::string& path) {
  if (!path.empty()) RemoveDatabase(path);
}

std::unique_ptr<ViewStore> ViewStore::InMemory() {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(":memory:");
  absl::Status prepared = database.status();
  if (prepared.ok()) prepared = view_tables::Prepare(**database);
  if (!prepared.ok()) LogFailure(prepared);  // fails only without memory
  const auto connection = std::make_shared<Connection>(*std::move(database));
  return std::unique_ptr<ViewStore>(new ViewStore(connection, connection));
}

absl::Status ViewStore::Change(absl::FunctionRef<absl::Status(Database&)> change) {
  const MutexLock lock(writer_->mutex);
  Database& database = *writer_->database;
  REEL_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  absl::Status done = change(database);
  if (done.ok()) done = database.Execute("COMMIT");
  // Some failures have rolled back already.
  if (!done.ok()) database.Execute("ROLLBACK").IgnoreError();
  return done;
}

void ViewStore::LogFailure(const absl::Status& status) {
  Log(LogLevel::kError, "The kept view of the fleet cannot be read", {{"error", status}});
}

std::optional<FleetJob> StoredRecords::FindJob(const Key& key) {
  auto found = view_tables::FindVideo(database_, key);
  status_.Update(found.status());
  if (!found.ok() || !*found) return std::nullopt;
  return std::move((*found)->job);
}

std::optional<FleetTrace> StoredRecords::FindTrace(const Key& key) {
  auto found = view_tables::FindTrace(database_, key);
  status_.Update(found.status());
  return found.ok() ? *std::move(found) : std::nullopt;
}

std::optional<FleetBinding> StoredRecords::FindBinding(const Key& key) {
  auto found = view_tables::FindBinding(database_, key);
  status_.Update(found.status());
  return found.ok() ? *std::move(found) : std::nullopt;
}

namespace view_tables {
namespace {

// Keeps the damaged file's first row, if it can be read.
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
  // No sequence is used twice.
  REEL_RETURN_IF_ERROR(db.Execute(
      "INSERT OR IGNORE INTO progress VALUES (1, 0, 0, ''); UPDATE progress SET position = "
      "max(position, (SELECT coalesce(max(sequence), 0) FROM log), (SELECT "
      "coalesce(max(" REEL_REQUEST_OF_NUMBER "), 0) FROM videos))"));
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

}  // namespace view_tables

std::optional<FleetJob> ViewBatch::FindJob(const Key& key) {
  const auto found = changes_.find(key);
  if (found != changes_.end()) return found->second.job;
  return records_.FindJob(key);
}

FoldRecords ViewBatch::RecordsOf(const FoldEntry& entry) {
  FoldRecords records;
  Key video{entry.subject.tenant, entry.subject.id};
  if (std::holds_alternative<BindingSaid>(entry.said)) {
    const auto found = bindings_.find(video);
    records.binding = found != bindings_.end() ? found->second : records_.FindBinding(video);
    if (!records.binding) return records;
    video.second = records.binding->video;
  }
  records.job = FindJob(video);
  if (!records.job) records.trace = records_.FindTrace(video);
  return records;
}

FoldVerdict ViewBatch::Fold(const FoldEntry& entry) {
  if (entry.sequence <= position_) return FoldVerdict::kOld;
  position_ = entry.sequence;
  if (std::holds_alternative<UnreadableSaid>(entry.said)) return FoldVerdict::kUnreadable;
  FoldRecords records = RecordsOf(entry);
  const bool was_live = records.job && !HasEnded(records.job->phase);
  FoldResult result = Judge(std::move(records), entry);
  const Key key{entry.subject.tenant, entry.subject.id};
  if (result.binding) bindings_[key] = *std::move(result.binding);
  if (result.job) Note(key, *std::move(result.job), was_live);
  for (auto& [id, other] : result.others) {
    const Key of_other{key.first, id};
    if (!FindJob(of_other) && !records_.FindTrace(of_other))
      Note(of_other, std::move(other), false);
  }
  return result.verdict;
}

void ViewBatch::Note(const Key& key, FleetJob job, bool was_live) {
  Change& change = changes_[key];
  change.is_new |= job.requested == position_;
  if (was_live && HasEnded(job.phase)) {
    change.ended = true;
    ends_.push_back(key);
  }
  if (job.deleted) {
    // Decodes the record before it is deleted, since the bill is in it.
    if (change.ended) ReadFacts(key, change);
    change.deleted = true;
  }
  change.job = std::move(job);
}

void ViewBatch::ReadFacts(const Key& key, Change& change) {
  if (reader_ != nullptr) change.facts = reader_->ReadFacts(key, change.job);
}

void ViewBatch::Finish() {
  for (auto& [key, change] : changes_) {
    if ((change.is_new || change.ended) && !change.deleted) ReadFacts(key, change);
  }
}

}  // namespace reel::front
