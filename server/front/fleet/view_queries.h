// SPDX-License-Identifier: Apache-2.0
// Queries of the view's tables, one function each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/front/fleet/view_tables.h"
#include "server/front/fleet/view_video.h"
#include "server/front/store/sqlite.h"

namespace reel::front::view_tables {

using Key = FleetState::Key;

absl::StatusOr<ViewProgress> ReadProgress(Database& db);
absl::StatusOr<std::optional<ViewVideo>> FindVideo(Database& db, const Key& key);
absl::StatusOr<std::optional<FleetTrace>> FindTrace(Database& db, const Key& key);
absl::StatusOr<std::optional<FleetBinding>> FindBinding(Database& db, const Key& key);
// The first one, if several tenants have a video with this id, which no gateway creates.
absl::StatusOr<std::optional<Key>> FindId(Database& db, const std::string& id);
absl::StatusOr<std::vector<ViewVideo>> Page(Database& db, const ViewPage& page);
// Queued and claimed videos, in the order of their requests.
absl::StatusOr<std::vector<Key>> Live(Database& db);
// Bills of ends in the hour before the latest end.
absl::StatusOr<std::vector<ViewBill>> LastBills(Database& db);
// Ids of the newest videos that continue this one and can still be reached.
absl::StatusOr<std::vector<std::string>> ContinuedBy(Database& db, const Key& key, absl::Time now,
                                                     int most);
// Bytes of states that can still be continued from, by tenant.
absl::StatusOr<std::map<std::string, int64_t>> StateBytes(Database& db, absl::Time now);
// Number of those states, and of states that expired before their videos.
absl::StatusOr<std::pair<int64_t, int64_t>> StateCounts(Database& db, absl::Time now);
absl::StatusOr<std::map<std::string, ModelPace>> Paces(Database& db);
absl::StatusOr<FleetState> Dump(Database& db);

}  // namespace reel::front::view_tables
