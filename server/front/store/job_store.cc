// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/job_store.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/store/inbox.h"
#include "server/front/store/job_rows.h"
#include "server/front/store/sqlite.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// One call: what it does inside the transaction, and who is told after it.
struct Operation {
  absl::AnyInvocable<absl::Status(Database&)> run;
  JobStore::Done done;
  Durability durability = Durability::kLogged;
  absl::Status result;
};

class SqliteJobStore final : public JobStore {
 public:
  explicit SqliteJobStore(std::unique_ptr<Database> database)
      : database_(std::move(database)), thread_([this] { Loop(); }) {}

  ~SqliteJobStore() override {
    inbox_.Close();
    thread_.join();
  }

  void Create(JobRow row, Done done) override {
    Put([row = std::move(row)](Database& db) { return rows::Insert(db, row); }, std::move(done));
  }
  void Update(JobRow row, Durability durability, Done done) override {
    Put([row = std::move(row)](Database& db) { return rows::Update(db, row); }, std::move(done),
        durability);
  }
  void Remove(std::string id, Done done) override {
    Put([id = std::move(id)](Database& db) { return rows::Remove(db, id); }, std::move(done),
        Durability::kSynced);
  }
  void PutBlob(std::string kind, std::string name, std::string value) override {
    Put([kind = std::move(kind), name = std::move(name),
         value = std::move(value)](Database& db) { return rows::PutBlob(db, kind, name, value); },
        nullptr);
  }

  void Find(std::string id, Reply<std::optional<JobRow>> reply) override {
    Read<std::optional<JobRow>>([id = std::move(id)](Database& db) { return rows::Find(db, id); },
                                std::move(reply));
  }
  void Page(PageQuery query, Reply<std::vector<JobRow>> reply) override {
    Read<std::vector<JobRow>>(
        [query = std::move(query)](Database& db) { return rows::Page(db, query); },
        std::move(reply));
  }
  void Live(Reply<std::vector<JobRow>> reply) override {
    Read<std::vector<JobRow>>([](Database& db) { return rows::Live(db); }, std::move(reply));
  }
  void Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) override {
    Read<std::vector<JobRow>>([now, limit](Database& db) { return rows::Expired(db, now, limit); },
                              std::move(reply));
  }
  void Files(Reply<std::vector<StoredFile>> reply) override {
    Read<std::vector<StoredFile>>([](Database& db) { return rows::Files(db); }, std::move(reply));
  }
  void Blobs(std::string kind, Reply<std::map<std::string, std::string>> reply) override {
    Read<std::map<std::string, std::string>>(
        [kind = std::move(kind)](Database& db) { return rows::Blobs(db, kind); }, std::move(reply));
  }

 private:
  void Put(absl::AnyInvocable<absl::Status(Database&)> run, Done done,
           Durability durability = Durability::kLogged) {
    inbox_.Put(Operation{std::move(run), std::move(done), durability, absl::OkStatus()});
  }

  // The value is read inside the transaction and answered after it, like a change.
  template <typename T>
  void Read(absl::AnyInvocable<absl::StatusOr<T>(Database&)> query, Reply<T> reply) {
    auto value = std::make_shared<T>();
    Put(
        [value, query = std::move(query)](Database& db) mutable -> absl::Status {
          REEL_ASSIGN_OR_RETURN(*value, query(db));
          return absl::OkStatus();
        },
        [value, reply = std::move(reply)](absl::Status status) mutable {
          if (status.ok()) {
            reply(std::move(*value));
          } else {
            reply(std::move(status));
          }
        });
  }

  void Loop() {
    std::vector<Operation> batch;
    while (inbox_.TakeAll(batch)) {
      const absl::Status committed = Commit(batch);
      for (Operation& operation : batch) {
        if (operation.result.ok()) operation.result = committed;
        if (operation.done) operation.done(std::move(operation.result));
      }
    }
  }

  absl::Status Commit(std::vector<Operation>& batch) {
    bool synced = false;
    for (const Operation& operation : batch) synced |= operation.durability == Durability::kSynced;
    if (synced != synced_) {
      REEL_RETURN_IF_ERROR(
          database_->Execute(synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
      synced_ = synced;
    }
    REEL_RETURN_IF_ERROR(database_->Execute("BEGIN IMMEDIATE"));
    for (Operation& operation : batch) Run(operation);
    absl::Status committed = database_->Execute("COMMIT");
    // After some errors SQLite has rolled back by itself; a second time does no harm.
    if (!committed.ok()) (void)database_->Execute("ROLLBACK");
    return committed;
  }

  // A savepoint each, so that one that fails takes nothing of another with it.
  void Run(Operation& operation) {
    operation.result = RunKept("SAVEPOINT one");
    if (!operation.result.ok()) return;
    operation.result = operation.run(*database_);
    if (!operation.result.ok()) (void)RunKept("ROLLBACK TO one");
    const absl::Status released = RunKept("RELEASE one");
    if (operation.result.ok()) operation.result = released;
  }

  absl::Status RunKept(const char* sql) {
    REEL_ASSIGN_OR_RETURN(Statement * statement, database_->Use(sql));
    return statement->Run();
  }

  std::unique_ptr<Database> database_;
  bool synced_ = true;  // SQLite's default is FULL
  Inbox<Operation> inbox_;
  std::thread thread_;
};

// DATA_LOSS for one of which a page is damaged. Reads all of it: what is found now can be saved.
absl::StatusOr<std::unique_ptr<Database>> OpenWhole(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  REEL_RETURN_IF_ERROR(PrepareSchema(*database));
  REEL_ASSIGN_OR_RETURN(const std::string wrong, database->QueryText("PRAGMA quick_check(1)"));
  if (wrong != "ok") return absl::DataLossError(wrong);
  return database;
}

absl::Status Salvage(const std::string& path, const absl::Status& damage) {
  const auto salvaged = SalvageDatabase(path, {PrepareSchema,
                                               {"jobs"},
                                               {{"restarts", "job, sequence"},
                                                {"tombstones", "tenant, request_id"},
                                                {"blobs", "kind, name"}}});
  if (!salvaged.ok()) {
    return absl::DataLossError(absl::StrCat(
        "The database is damaged and nothing of it can be read. Put a copy of it back, or move it "
        "away to begin without one: files of its videos then go to quarantine/ beside it, where "
        "they stay for 7 days: ",
        path, ": ", damage.message()));
  }
  Log(LogLevel::kError,
      "The database was damaged. Every row that could be read is in a new one; lost are at least "
      "the videos whose files are now in quarantine/. The damaged file is kept until the next time",
      {{"rows", salvaged->rows}, {"damaged", salvaged->damaged}, {"error", damage}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> OpenJobStore(const std::string& path) {
  auto database = OpenWhole(path);
  if (absl::IsDataLoss(database.status())) {
    REEL_RETURN_IF_ERROR(Salvage(path, database.status()));
    database = OpenWhole(path);
  }
  REEL_RETURN_IF_ERROR(database.status());
  return std::make_unique<SqliteJobStore>(*std::move(database));
}

}  // namespace reel::front
