// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/sqlite.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

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

}  // namespace reel::front
