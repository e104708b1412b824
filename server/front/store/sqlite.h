// SPDX-License-Identifier: Apache-2.0
// SQLite's handles, owned. Each connection is one thread's once opened.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reel::front {

// A prepared statement. Parameters are bound in order, columns are read by number.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  Statement& Int(int64_t value);
  Statement& Text(std::string_view value);
  Statement& Blob(std::string_view value);
  Statement& Null();
  // Nanoseconds since 1970; infinities become null.
  Statement& Time(absl::Time value);

  // True: a row is there.
  absl::StatusOr<bool> Step();
  // Steps to the end, ignoring rows.
  absl::Status Run();
  // Calls `read` for each row, and is ready for the next use.
  absl::Status ForEachRow(absl::FunctionRef<void(const Statement&)> read);

  int64_t GetInt(int column) const;
  std::string GetBytes(int column) const;
  bool IsNull(int column) const;
  absl::Time GetTime(int column, absl::Time when_null) const;

  // Ready for the next use.
  void Reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

class Database {
 public:
  // Made with mode 0600 if it is not there.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path);
  // Another connection to a file that this process has open: one that it closed by itself would
  // take SQLite's locks with it.
  static absl::StatusOr<std::unique_ptr<Database>> OpenAgain(const std::string& path);

  // One or more statements without parameters.
  absl::Status Execute(const char* sql);
  // Compiled once and kept; ready for parameters. `sql` is a literal. Null when it does not compile
  // (see last_error).
  absl::StatusOr<Statement*> Use(const char* sql);
  absl::StatusOr<int64_t> QueryInt(const char* sql);
  // The first column of the first row; empty without one.
  absl::StatusOr<std::string> QueryText(const char* sql);
  // For what has no typed way; stays this object's.
  sqlite3* raw() const { return db_.get(); }
  absl::Status last_error() const;

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Database(sqlite3* db) : db_(db) {}
  std::unique_ptr<sqlite3, Close> db_;
  // After db_, so that statements go first.
  std::map<const char*, std::unique_ptr<Statement>> statements_;
};

// The file of a database that nobody has open, and what SQLite keeps beside it.
void RemoveDatabase(const std::string& path);
// The file itself comes last: what is cut short can be done again.
absl::Status RenameDatabase(const std::string& from, const std::string& to);

// A code of SQLite as a status; a full disk is STORE_FULL.
absl::Status SqliteStatus(int code, std::string_view message);

// Salvage of a damaged database: copies what can still be read into a new one.
// What a database is made of.
struct SalvagePlan {
  std::function<absl::Status(Database&)> prepare;  // makes the tables of a new file
  std::vector<std::string> tables;                 // that have row ids
  struct Keyed {
    std::string table, key;  // the columns of its key
  };
  std::vector<Keyed> keyed;  // that have none
  // Lets tables agree with each other in what could be read; null: there is nothing to do.
  std::function<absl::Status(Database&)> mend = nullptr;
};

struct Salvaged {
  int64_t rows = 0;     // of all tables, in the new file
  std::string damaged;  // where the old file is now
};

// Copies every row that can be read of the database `path` to a new file, which takes its place;
// the damaged one stays beside it, as `path`.damaged. DATA_LOSS, and nothing has changed, when it
// is no database any more, or of a version that is not ours. Blocks; nobody else has the file open.
absl::StatusOr<Salvaged> SalvageDatabase(const std::string& path, const SalvagePlan& plan);

}  // namespace reel::front
