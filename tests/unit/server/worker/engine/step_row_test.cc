// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/step_row.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

TEST(StepRow, TheThirdStepOfTheSameJobsTells) {
  StepRow row;
  EXPECT_FALSE(row.Tells({1, 2}));
  EXPECT_FALSE(row.Tells({1, 2}));
  EXPECT_TRUE(row.Tells({1, 2}));
  EXPECT_TRUE(row.Tells({1, 2}));
}

TEST(StepRow, OtherJobsAndOtherWorkBeginARow) {
  StepRow row;
  for (int i = 0; i < 5; ++i) row.Tells({1, 2});
  EXPECT_FALSE(row.Tells({1}));
  EXPECT_FALSE(row.Tells({1}));
  EXPECT_TRUE(row.Tells({1}));
  row.Break();
  EXPECT_FALSE(row.Tells({1}));
  EXPECT_FALSE(row.Tells({1}));
  EXPECT_TRUE(row.Tells({1}));
}

}  // namespace
}  // namespace reel::worker
