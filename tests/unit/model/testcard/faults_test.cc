// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/faults.h"

#include <gtest/gtest.h>

namespace reel::model {
namespace {

TEST(FaultTable, HappensAtItsStepToItsPromptAsOftenAsTold) {
  FaultTable table({{"nan", 3, "bad", 2}});
  EXPECT_EQ(table.Next("bad fox", 2), FaultKind::kNone);
  EXPECT_EQ(table.Next("good fox", 3), FaultKind::kNone);
  EXPECT_EQ(table.Next("bad fox", 3), FaultKind::kNan);
  EXPECT_EQ(table.Next("a bad dog", 3), FaultKind::kNan);
  EXPECT_EQ(table.Next("bad fox", 3), FaultKind::kNone);
}

TEST(FaultTable, ZeroTimesMeansAlways) {
  FaultTable table({{"oom", 0, "", 0}});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(table.Next("any", 0), FaultKind::kOom);
}

TEST(FaultTable, LaterFaultsHappenOnceEarlierOnesAreSpent) {
  FaultTable table({{"oom", 0, "", 1}, {"nan", 0, "", 0}});
  EXPECT_EQ(table.Next("any", 0), FaultKind::kOom);
  EXPECT_EQ(table.Next("any", 0), FaultKind::kNan);
}

TEST(FaultTable, RefusesFaultsThatDoNotExist) {
  EXPECT_TRUE(
      FaultTable::Check({{"hang", 0, "", 0}, {"exit", 0, "", 0}, {"sticky", 0, "", 0}}).ok());
  EXPECT_EQ(FaultTable::Check({{"melt", 0, "", 0}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FaultTable::Check({{"nan", -1, "", 0}}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reel::model
