// SPDX-License-Identifier: Apache-2.0
// The order in which the view names videos that go on from another.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/view_queries.h"
#include "server/front/fleet/view_tables.h"

namespace reel::front {
namespace {

using Listed = std::vector<std::string>;

TEST(ViewContinuations, ThoseOfOneCallComeInItsOrderBetweenNewerAndOlderOnes) {
  const auto db = Database::Open(":memory:");
  ASSERT_TRUE(view_tables::Prepare(**db).ok());
  const auto insert = [&](const char* id, uint64_t requested, uint32_t place) {
    FleetJob job;
    job.requested = requested;
    job.place = place;
    const std::string sql =
        absl::StrCat("INSERT INTO videos VALUES (", view_tables::NumberOf(job), ", 't', '", id,
                     "', 2, 1, 1, 'n', '', NULL, x'', 0, '', 3, '', '', 1, 0, 0, 0, 100, 0, x'', "
                     "'v1', 0, 0)");
    ASSERT_TRUE((*db)->Execute(sql.c_str()).ok()) << sql;
  };
  insert("older", 4, 0);
  insert("a", 5, 0);
  insert("b", 5, 1);
  insert("c", 5, 2);
  insert("newer", 6, 0);
  const auto most = [&](int most_of_all) {
    return *view_tables::ContinuedBy(**db, {"t", "v1"}, absl::UnixEpoch(), most_of_all);
  };
  EXPECT_EQ(most(9), (Listed{"newer", "a", "b", "c", "older"}));
  EXPECT_EQ(most(4), (Listed{"newer", "a", "b", "c"})) << "the newest stay";
}

}  // namespace
}  // namespace reel::front
