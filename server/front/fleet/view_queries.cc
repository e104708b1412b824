// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/view_queries.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "kernels/base/status_macros.h"

namespace reel::front::view_tables {
namespace {

#define REEL_VIEW_COLUMNS                                                                   \
  "requested, tenant, id, phase, epoch, begun, owner, address, wish, wish_video, deleted, " \
  "caller_node, last_sequence, object, no_room, readable, locked, create_time, end_time, "  \
  "expire_time, device_nanos, video, source, state_bytes, state_expire_time"

// The form in which view_tables.cc writes times.
int64_t NanosAt(absl::Time time) { return absl::ToUnixNanos(time); }

absl::Time TimeOf(int64_t nanos) {
  if (nanos == INT64_MAX) return absl::InfiniteFuture();
  if (nanos == INT64_MIN) return absl::InfinitePast();
  return absl::FromUnixNanos(nanos);
}

double SecondsOf(int64_t nanos) { return static_cast<double>(nanos) * 1e-9; }

bool TakeNumber(std::string_view& text, int& number) {
  const size_t end = text.find(' ');
  if (end == text.npos) return false;
  const bool read = absl::SimpleAtoi(absl::string_view(text.data(), end), &number);
  text.remove_prefix(end + 1);
  return read;
}

std::map<std::string, int> ReadCounts(std::string_view text) {
  std::map<std::string, int> counts;
  int count = 0, size = 0;
  while (TakeNumber(text, count) && TakeNumber(text, size) && size >= 0 &&
         static_cast<size_t>(size) <= text.size()) {
    counts[std::string(text.substr(0, static_cast<size_t>(size)))] = count;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return counts;
}

ViewVideo Read(const Statement& from) {
  ViewVideo video;
  FleetJob& job = video.job;
  VideoFacts& facts = video.facts;
  const auto number = static_cast<uint64_t>(from.GetInt(0));
  job.requested = number & ((uint64_t{1} << kPlaceBit) - 1);
  job.place = static_cast<uint32_t>(number >> kPlaceBit);
  video.key = {from.GetBytes(1), from.GetBytes(2)};
  job.phase = static_cast<FleetPhase>(from.GetInt(3));
  job.epoch = static_cast<uint32_t>(from.GetInt(4));
  job.begun = static_cast<uint32_t>(from.GetInt(5));
  job.owner = from.GetBytes(6);
  job.address = from.GetBytes(7);
  if (!from.IsNull(8)) job.wish = static_cast<CancelKind>(from.GetInt(8));
  job.wish_video = from.GetBytes(9);
  job.deleted = from.GetInt(10) != 0;
  job.caller_node = from.GetBytes(11);
  job.last_sequence = static_cast<uint64_t>(from.GetInt(12));
  job.object = from.GetBytes(13);
  job.no_room = ReadCounts(from.GetBytes(14));
  facts.readable = from.GetInt(15) != 0;
  facts.locked = from.GetInt(16) != 0;
  facts.create_time = TimeOf(from.GetInt(17));
  facts.end_time = TimeOf(from.GetInt(18));
  facts.expire_time = TimeOf(from.GetInt(19));
  facts.device_seconds = SecondsOf(from.GetInt(20));
  job.video = from.GetBytes(21);
  facts.source = from.GetBytes(22);
  facts.state_bytes = from.GetInt(23);
  facts.state_expire_time = TimeOf(from.GetInt(24));
  return video;
}

absl::StatusOr<std::vector<ViewVideo>> ReadAll(Statement& query) {
  std::vector<ViewVideo> found;
  REEL_RETURN_IF_ERROR(
      query.ForEachRow([&](const Statement& from) { found.push_back(Read(from)); }));
  return found;
}

// Statement for the videos of one phase, in the page's order.
const char* PageSql(const ViewPage& page) {
  if (page.tenant.empty()) {
    return page.oldest_first
               ? "SELECT " REEL_VIEW_COLUMNS
                 " FROM videos INDEXED BY videos_by_age WHERE phase = ? AND readable AND NOT "
                 "deleted AND (create_time, id) > (?, ?) AND expire_time > ? ORDER BY create_time, "
                 "id LIMIT ?"
               : "SELECT " REEL_VIEW_COLUMNS
                 " FROM videos INDEXED BY videos_by_age WHERE phase = ? AND readable AND NOT "
                 "deleted AND (create_time, id) < (?, ?) AND expire_time > ? ORDER BY create_time "
                 "DESC, id DESC LIMIT ?";
  }
  return page.oldest_first
             ? "SELECT " REEL_VIEW_COLUMNS
               " FROM videos INDEXED BY videos_by_tenant WHERE tenant = ? AND phase = ? AND "
               "readable AND NOT deleted AND (create_time, id) > (?, ?) AND expire_time > ? ORDER "
               "BY create_time, id LIMIT ?"
             : "SELECT " REEL_VIEW_COLUMNS
               " FROM videos INDEXED BY videos_by_tenant WHERE tenant = ? AND phase = ? AND "
               "readable AND NOT deleted AND (create_time, id) < (?, ?) AND expire_time > ? ORDER "
               "BY create_time DESC, id DESC LIMIT ?";
}

// Lets several queries see one state of the tables.
class Snapshot {
 public:
  explicit Snapshot(Database& db) : db_(db) { db_.Execute("BEGIN").IgnoreError(); }
  ~Snapshot() { db_.Execute("COMMIT").IgnoreError(); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& db_;
};

}  // namespace

absl::StatusOr<ViewProgress> ReadProgress(Database& db) {
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT position, created, keys FROM progress"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Step());
  ViewProgress progress;
  if (there) {
    progress = {static_cast<uint64_t>(query->GetInt(0)), query->GetInt(1), query->GetBytes(2)};
  }
  query->Reset();
  return progress;
}

absl::StatusOr<std::optional<ViewVideo>> FindVideo(Database& db, const Key& key) {
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT " REEL_VIEW_COLUMNS
                                                  " FROM videos WHERE id = ? AND tenant = ?"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Text(key.second).Text(key.first).Step());
  std::optional<ViewVideo> found;
  if (there) found = Read(*query);
  query->Reset();
  return found;
}

absl::StatusOr<std::optional<FleetTrace>> FindTrace(Database& db, const Key& key) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT phase, requested FROM traces WHERE id = ? AND tenant = ?"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Text(key.second).Text(key.first).Step());
  std::optional<FleetTrace> found;
  if (there) {
    found = {static_cast<FleetPhase>(query->GetInt(0)), static_cast<uint64_t>(query->GetInt(1))};
  }
  query->Reset();
  return found;
}

absl::StatusOr<std::optional<FleetBinding>> FindBinding(Database& db, const Key& key) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT number, video, spec_hash, sequence FROM bindings WHERE "
                               "request_id = ? AND tenant = ?"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Text(key.second).Text(key.first).Step());
  std::optional<FleetBinding> found;
  if (there) {
    found = {static_cast<uint32_t>(query->GetInt(0)), query->GetBytes(1), query->GetBytes(2),
             static_cast<uint64_t>(query->GetInt(3))};
  }
  query->Reset();
  return found;
}

absl::StatusOr<std::optional<Key>> FindId(Database& db, const std::string& id) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT tenant FROM videos WHERE id = ? ORDER BY requested LIMIT 1"));
  REEL_ASSIGN_OR_RETURN(const bool there, query->Text(id).Step());
  std::optional<Key> found;
  if (there) found = {query->GetBytes(0), id};
  query->Reset();
  return found;
}

absl::StatusOr<std::vector<ViewVideo>> Page(Database& db, const ViewPage& page) {
  absl::Time after = page.after_time;
  if (page.after_id.empty()) {
    after = page.oldest_first ? absl::InfinitePast() : absl::InfiniteFuture();
  }
  std::vector<ViewVideo> found;
  const Snapshot snapshot(db);
  for (const FleetPhase phase : page.phases) {
    REEL_ASSIGN_OR_RETURN(Statement * query, db.Use(PageSql(page)));
    if (!page.tenant.empty()) query->Text(page.tenant);
    query->Int(static_cast<int64_t>(phase)).Int(NanosAt(after)).Text(page.after_id);
    query->Int(NanosAt(page.now)).Int(static_cast<int64_t>(page.size));
    REEL_ASSIGN_OR_RETURN(std::vector<ViewVideo> videos, ReadAll(*query));
    for (ViewVideo& video : videos) found.push_back(std::move(video));
  }
  std::sort(found.begin(), found.end(), [&](const ViewVideo& a, const ViewVideo& b) {
    const auto left = std::tie(a.facts.create_time, a.key.second);
    const auto right = std::tie(b.facts.create_time, b.key.second);
    return page.oldest_first ? left < right : right < left;
  });
  if (found.size() > page.size) found.resize(page.size);
  return found;
}

absl::StatusOr<std::vector<Key>> Live(Database& db) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT tenant, id FROM videos WHERE phase < 2 ORDER BY requested"));
  std::vector<Key> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow(
      [&](const Statement& from) { found.emplace_back(from.GetBytes(0), from.GetBytes(1)); }));
  return found;
}

absl::StatusOr<std::vector<ViewBill>> LastBills(Database& db) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT tenant, device_nanos, end_time FROM videos WHERE device_nanos > 0 AND "
             "end_time > (SELECT max(end_time) FROM videos WHERE device_nanos > 0) - "
             "3600000000000"));
  std::vector<ViewBill> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow([&](const Statement& from) {
    found.push_back({from.GetBytes(0), SecondsOf(from.GetInt(1)), TimeOf(from.GetInt(2))});
  }));
  return found;
}

absl::StatusOr<std::vector<std::string>> ContinuedBy(Database& db, const Key& key, absl::Time now,
                                                     int most) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT id FROM videos INDEXED BY videos_by_source WHERE tenant = ? AND source = ? "
             "AND source != '' AND NOT deleted AND expire_time > ? ORDER BY " REEL_REQUEST_OF_NUMBER
             " DESC, requested LIMIT ?"));
  query->Text(key.first).Text(key.second).Int(NanosAt(now)).Int(most);
  std::vector<std::string> found;
  REEL_RETURN_IF_ERROR(
      query->ForEachRow([&](const Statement& from) { found.push_back(from.GetBytes(0)); }));
  return found;
}

absl::StatusOr<std::map<std::string, int64_t>> StateBytes(Database& db, absl::Time now) {
  REEL_ASSIGN_OR_RETURN(Statement * query,
                        db.Use("SELECT tenant, sum(state_bytes) FROM videos INDEXED BY "
                               "videos_with_state WHERE state_bytes > 0 AND NOT deleted AND "
                               "state_expire_time > ? GROUP BY tenant"));
  std::map<std::string, int64_t> found;
  REEL_RETURN_IF_ERROR(query->Int(NanosAt(now)).ForEachRow([&](const Statement& from) {
    found[from.GetBytes(0)] = from.GetInt(1);
  }));
  return found;
}

absl::StatusOr<std::pair<int64_t, int64_t>> StateCounts(Database& db, absl::Time now) {
  REEL_ASSIGN_OR_RETURN(
      Statement * query,
      db.Use("SELECT count(*) FILTER (WHERE state_expire_time > ?1), "
             "count(*) FILTER (WHERE state_expire_time <= ?1) FROM videos INDEXED BY "
             "videos_with_state WHERE state_bytes > 0 AND NOT deleted"));
  std::pair<int64_t, int64_t> found;
  REEL_RETURN_IF_ERROR(query->Int(NanosAt(now)).ForEachRow([&](const Statement& from) {
    found = {from.GetInt(0), from.GetInt(1)};
  }));
  return found;
}

absl::StatusOr<std::map<std::string, ModelPace>> Paces(Database& db) {
  REEL_ASSIGN_OR_RETURN(Statement * query, db.Use("SELECT model, device_nanos, work FROM paces"));
  std::map<std::string, ModelPace> found;
  REEL_RETURN_IF_ERROR(query->ForEachRow([&](const Statement& from) {
    found[from.GetBytes(0)] = {SecondsOf(from.GetInt(1)), static_cast<double>(from.GetInt(2))};
  }));
  return found;
}

absl::StatusOr<FleetState> Dump(Database& db) {
  FleetState state;
  const Snapshot snapshot(db);
  REEL_ASSIGN_OR_RETURN(const ViewProgress progress, ReadProgress(db));
  state.position = progress.position;
  REEL_ASSIGN_OR_RETURN(Statement * videos, db.Use("SELECT " REEL_VIEW_COLUMNS " FROM videos"));
  REEL_ASSIGN_OR_RETURN(std::vector<ViewVideo> all, ReadAll(*videos));
  for (ViewVideo& video : all) state.jobs[video.key] = std::move(video.job);
  REEL_ASSIGN_OR_RETURN(Statement * traces,
                        db.Use("SELECT tenant, id, phase, requested FROM traces"));
  REEL_RETURN_IF_ERROR(traces->ForEachRow([&](const Statement& from) {
    state.over[{from.GetBytes(0), from.GetBytes(1)}] = {static_cast<FleetPhase>(from.GetInt(2)),
                                                        static_cast<uint64_t>(from.GetInt(3))};
  }));
  REEL_ASSIGN_OR_RETURN(
      Statement * bindings,
      db.Use("SELECT tenant, request_id, number, video, spec_hash, sequence FROM bindings"));
  REEL_RETURN_IF_ERROR(bindings->ForEachRow([&](const Statement& from) {
    state.bindings[{from.GetBytes(0), from.GetBytes(1)}] = {static_cast<uint32_t>(from.GetInt(2)),
                                                            from.GetBytes(3), from.GetBytes(4),
                                                            static_cast<uint64_t>(from.GetInt(5))};
  }));
  return state;
}

}  // namespace reel::front::view_tables
