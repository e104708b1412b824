// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace reel::server {
namespace {

TEST(Reasons, AreOneRowEach) {
  std::set<std::string> names;
  int expected = 0;
  for (const ReasonRow& row : AllReasons()) {
    // In the order of the enumeration, so that no reason is without a row.
    EXPECT_EQ(static_cast<int>(row.reason), expected++) << row.name;
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_EQ(&Describe(row.reason), &row);
    EXPECT_EQ(ReasonFromName(row.name), row.reason);
  }
  EXPECT_EQ(expected, static_cast<int>(Reason::kInternal) + 1);
}

TEST(Reasons, AreWrittenAsTheApiSays) {
  for (const ReasonRow& row : AllReasons()) {
    EXPECT_EQ(row.name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), std::string_view::npos)
        << row.name;
    EXPECT_EQ(row.meaning.back(), '.') << row.name;
    EXPECT_NE(row.code, absl::StatusCode::kOk);
    EXPECT_NE(row.code, absl::StatusCode::kUnknown);
  }
}

TEST(Reasons, AnUnknownNameIsInternal) {
  EXPECT_EQ(ReasonFromName("NO_SUCH"), Reason::kInternal);
  EXPECT_EQ(ReasonFromName(""), Reason::kInternal);
}

}  // namespace
}  // namespace reel::server
