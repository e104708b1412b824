// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"

namespace reel::front {

absl::Status SqliteStatus(int code, std::string_view message) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return absl::OkStatus();
  const std::string text =
      absl::StrCat("The database failed: ", absl::string_view(message.data(), message.size()));
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return MakeError(Reason::kStoreFull, "The disk of the data folder is full");
    case SQLITE_CONSTRAINT:
      return absl::AlreadyExistsError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(
          absl::StrCat("The database is damaged; a new start of reeld saves what can be read: ",
                       absl::string_view(message.data(), message.size())));
    default:
      return absl::InternalError(text);
  }
}

Statement& Statement::Int(int64_t value) {
  sqlite3_bind_int64(statement_.get(), next_++, value);
  return *this;
}

// Bound values are copied: the statement outlives what it was given.
Statement& Statement::Text(std::string_view value) {
  sqlite3_bind_text64(statement_.get(), next_++, value.data() == nullptr ? "" : value.data(),
                      value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Blob(std::string_view value) {
  if (value.empty()) {
    sqlite3_bind_zeroblob(statement_.get(), next_++, 0);
  } else {
    sqlite3_bind_blob64(statement_.get(), next_++, value.data(), value.size(), SQLITE_TRANSIENT);
  }
  return *this;
}

Statement& Statement::Null() {
  sqlite3_bind_null(statement_.get(), next_++);
  return *this;
}

Statement& Statement::Time(absl::Time value) {
  if (value == absl::InfiniteFuture() || value == absl::InfinitePast()) return Null();
  return Int(absl::ToUnixNanos(value));
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqliteStatus(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

absl::Status Statement::Run() {
  while (true) {
    REEL_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return absl::OkStatus();
  }
}

absl::Status Statement::ForEachRow(absl::FunctionRef<void(const Statement&)> read) {
  while (true) {
    REEL_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) break;
    read(*this);
  }
  Reset();
  return absl::OkStatus();
}

int64_t Statement::GetInt(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::GetBytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr || size <= 0) return "";
  return std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

absl::Time Statement::GetTime(int column, absl::Time when_null) const {
  return IsNull(column) ? when_null : absl::FromUnixNanos(GetInt(column));
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  if (path != ":memory:") {
    // SQLite gives its own files the mode of this one.
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("The database cannot be opened: ", path));
    }
    ::close(made);
  }
  return OpenAgain(path);
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenAgain(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(opened));
  if (code != SQLITE_OK) return SqliteStatus(code, sqlite3_errstr(code));
  sqlite3_busy_timeout(opened, 2000);
  return database;
}

absl::Status Database::Execute(const char* sql) {
  // In two steps: the message is that of the call.
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  return SqliteStatus(code, sqlite3_errmsg(db_.get()));
}

absl::StatusOr<Statement*> Database::Use(const char* sql) {
  std::unique_ptr<Statement>& kept = statements_[sql];
  if (kept == nullptr) {
    sqlite3_stmt* made = nullptr;
    const int code =
        sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) return SqliteStatus(code, sqlite3_errmsg(db_.get()));
    kept = std::make_unique<Statement>(made);
  }
  kept->Reset();
  return kept.get();
}

absl::StatusOr<int64_t> Database::QueryInt(const char* sql) {
  REEL_ASSIGN_OR_RETURN(Statement * query, Use(sql));
  REEL_ASSIGN_OR_RETURN(const bool row, query->Step());
  const int64_t value = row ? query->GetInt(0) : 0;
  query->Reset();
  return value;
}

absl::StatusOr<std::string> Database::QueryText(const char* sql) {
  REEL_ASSIGN_OR_RETURN(Statement * query, Use(sql));
  REEL_ASSIGN_OR_RETURN(const bool row, query->Step());
  std::string value = row ? query->GetBytes(0) : "";
  query->Reset();
  return value;
}

void RemoveDatabase(const std::string& path) {
  for (const char* const part : {"", "-wal", "-shm"}) std::remove((path + part).c_str());
}

absl::Status RenameDatabase(const std::string& from, const std::string& to) {
  for (const char* const part : {"-shm", "-wal", ""}) {
    const std::string file = from + part;
    if (std::rename(file.c_str(), (to + part).c_str()) == 0) continue;
    if (errno == ENOENT && *part != '\0') continue;
    return absl::ErrnoToStatus(errno, absl::StrCat("The database cannot be renamed: ", file));
  }
  return absl::OkStatus();
}

namespace {

// Row ids that are tried behind one that cannot be read, before a table counts as read: far more
// than a page of a table has.
constexpr int64_t kMostMisses = 100'000;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using RawStatement = std::unique_ptr<sqlite3_stmt, Finalize>;

RawStatement Prepare(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  return RawStatement(statement);
}

// The row under `from` into the table of the same columns; one that is there already stays.
bool Copy(sqlite3_stmt* from, sqlite3* to, const std::string& table, int first_column) {
  const int columns = sqlite3_column_count(from);
  std::string names, marks;
  for (int column = first_column; column < columns; ++column) {
    const char* comma = column > first_column ? ", " : "";
    absl::StrAppend(&names, comma, sqlite3_column_name(from, column));
    absl::StrAppend(&marks, comma, "?");
  }
  const RawStatement insert = Prepare(
      to, absl::StrCat("INSERT OR IGNORE INTO ", table, " (", names, ") VALUES (", marks, ")"));
  if (insert == nullptr) return false;
  for (int column = first_column; column < columns; ++column) {
    sqlite3_bind_value(insert.get(), column - first_column + 1, sqlite3_column_value(from, column));
  }
  return sqlite3_step(insert.get()) == SQLITE_DONE;
}

// Tables with row ids: behind a page that cannot be read the next one is found by its ids.
void CopyByRowId(sqlite3* from, sqlite3* to, const std::string& table) {
  int64_t next = 0, misses = 0;
  while (misses < kMostMisses) {
    // Made anew: an error leaves a statement where it is.
    const RawStatement query = Prepare(
        from, absl::StrCat("SELECT rowid AS salvaged, * FROM ", table,
                           " NOT INDEXED WHERE rowid >= ", next, " ORDER BY rowid LIMIT 1"));
    if (query == nullptr) return;
    const int code = sqlite3_step(query.get());
    if (code == SQLITE_DONE) return;
    if (code == SQLITE_ROW) {
      next = sqlite3_column_int64(query.get(), 0) + 1;
      misses = 0;
      Copy(query.get(), to, table, 1);
    } else {
      ++next;
      ++misses;
    }
  }
}

// The others: from the front to the first bad page, and from the back to the last one.
void CopyFromBothEnds(sqlite3* from, sqlite3* to, const std::string& table,
                      const std::string& key) {
  for (const std::string& order : {key, absl::StrCat(key, " DESC")}) {
    const RawStatement query =
        Prepare(from, absl::StrCat("SELECT * FROM ", table, " ORDER BY ", order));
    while (query != nullptr && sqlite3_step(query.get()) == SQLITE_ROW) {
      Copy(query.get(), to, table, 0);
    }
  }
}

absl::StatusOr<int64_t> CopyAll(const std::string& from, const std::string& to,
                                const SalvagePlan& plan) {
  REEL_ASSIGN_OR_RETURN(const auto damaged, Database::Open(from));
  REEL_ASSIGN_OR_RETURN(const int64_t version, damaged->QueryInt("PRAGMA user_version"));
  if (version < 1) return absl::DataLossError("The database has lost its version");
  REEL_ASSIGN_OR_RETURN(const auto made, Database::Open(to));
  REEL_RETURN_IF_ERROR(plan.prepare(*made));
  REEL_RETURN_IF_ERROR(made->Execute("BEGIN"));
  for (const std::string& table : plan.tables) CopyByRowId(damaged->raw(), made->raw(), table);
  for (const auto& [table, key] : plan.keyed) {
    CopyFromBothEnds(damaged->raw(), made->raw(), table, key);
  }
  if (plan.mend != nullptr) REEL_RETURN_IF_ERROR(plan.mend(*made));
  REEL_RETURN_IF_ERROR(made->Execute("COMMIT"));
  // All of it in the one file that takes the other's place.
  REEL_RETURN_IF_ERROR(made->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  int64_t rows = 0;
  const auto count = [&](const std::string& table) -> absl::Status {
    REEL_ASSIGN_OR_RETURN(const int64_t some,
                          made->QueryInt(absl::StrCat("SELECT count(*) FROM ", table).c_str()));
    rows += some;
    return absl::OkStatus();
  };
  for (const std::string& table : plan.tables) REEL_RETURN_IF_ERROR(count(table));
  for (const auto& keyed : plan.keyed) REEL_RETURN_IF_ERROR(count(keyed.table));
  return rows;
}

}  // namespace

absl::StatusOr<Salvaged> SalvageDatabase(const std::string& path, const SalvagePlan& plan) {
  const std::string made = path + ".salvaged";
  Salvaged salvaged;
  salvaged.damaged = path + ".damaged";
  RemoveDatabase(made);
  absl::StatusOr<int64_t> rows = CopyAll(path, made, plan);
  if (!rows.ok()) {
    RemoveDatabase(made);
    return std::move(rows).status();
  }
  salvaged.rows = *rows;
  RemoveDatabase(salvaged.damaged);
  // A kill in between leaves a database under its name, and never a log beside one that is not its
  // own.
  std::error_code ignored;
  std::filesystem::create_hard_link(path, salvaged.damaged, ignored);
  std::filesystem::rename(path + "-wal", salvaged.damaged + "-wal", ignored);
  std::filesystem::remove(path + "-shm", ignored);
  if (std::rename(made.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The database cannot be replaced: ", path));
  }
  RemoveDatabase(made);
  return salvaged;
}

}  // namespace reel::front
