// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/salvage.h"

#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/store/sqlite.h"

namespace reel::front {
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
