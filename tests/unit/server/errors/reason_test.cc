// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason.h"

#include <cctype>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace reel {
namespace {

TEST(Reason, TableHasEveryReasonOnceAndInOrder) {
  std::set<std::string> names;
  for (const ReasonRow& row : AllReasons()) {
    EXPECT_EQ(&Describe(row.reason), &row) << row.name;
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
  }
  EXPECT_EQ(Describe(Reason::kInternal).reason, Reason::kInternal);
  EXPECT_EQ(AllReasons().size(), static_cast<size_t>(Reason::kInternal) + 1);
}

TEST(Reason, NamesAreUpperSnakeAndMeaningsAreSentences) {
  for (const ReasonRow& row : AllReasons()) {
    EXPECT_FALSE(row.name.empty());
    for (const char c : row.name) {
      EXPECT_TRUE(std::isupper(static_cast<unsigned char>(c)) || c == '_') << row.name;
    }
    ASSERT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_EQ(row.meaning.back(), '.') << row.name;
    EXPECT_NE(row.code, absl::StatusCode::kOk) << row.name;
    EXPECT_NE(row.code, absl::StatusCode::kUnknown) << row.name;
  }
}

TEST(Reason, NamesTravelAndUnknownOnesAreInternal) {
  for (const ReasonRow& row : AllReasons()) EXPECT_EQ(ReasonFromName(row.name), row.reason);
  EXPECT_EQ(ReasonFromName("NO_SUCH_REASON"), Reason::kInternal);
  EXPECT_EQ(ReasonFromName(""), Reason::kInternal);
}

TEST(Reason, OnlyTransientOnesAreForAutomaticRetry) {
  std::set<Reason> retried;
  for (const ReasonRow& row : AllReasons()) {
    if (row.code == absl::StatusCode::kUnavailable) retried.insert(row.reason);
  }
  EXPECT_TRUE(retried.contains(Reason::kQueueFull));
  EXPECT_TRUE(retried.contains(Reason::kServerDraining));
  EXPECT_FALSE(retried.contains(Reason::kTenantQuota));
  EXPECT_FALSE(retried.contains(Reason::kWorkerLost));
}

}  // namespace
}  // namespace reel
