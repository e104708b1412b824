// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/restart_policy.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

class RestartPolicyTest : public testing::Test {
 protected:
  RestartPolicyTest() { options_.jitter = 0; }
  SteadyTime At(int seconds) const { return SteadyTime() + std::chrono::seconds(seconds + 1000); }
  RestartOptions options_;
};

TEST_F(RestartPolicyTest, DoublesTheWaitUpToTheLongest) {
  RestartPolicy policy(options_, 1);
  for (const int expected : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(policy.AfterLoss(At(0), std::nullopt, false), absl::Seconds(expected));
  }
}

TEST_F(RestartPolicyTest, BeginsAgainAfterAMinuteOfHealth) {
  RestartPolicy policy(options_, 1);
  policy.AfterLoss(At(0), std::nullopt, false);
  EXPECT_EQ(policy.AfterLoss(At(100), At(41), false), absl::Seconds(2));
  EXPECT_EQ(policy.AfterLoss(At(200), At(140), false), absl::Seconds(1));
}

TEST_F(RestartPolicyTest, SpreadsTheWaitsOfSeveralWorkers) {
  options_.jitter = 0.2;
  RestartPolicy one(options_, 1), other(options_, 2);
  const auto wait = one.AfterLoss(At(0), std::nullopt, false);
  EXPECT_NE(wait, other.AfterLoss(At(0), std::nullopt, false));
  EXPECT_GE(*wait, absl::Milliseconds(800));
  EXPECT_LE(*wait, absl::Milliseconds(1200));
}

TEST_F(RestartPolicyTest, TakesOutAfterFiveLossesOfItsOwnMaking) {
  RestartPolicy policy(options_, 1);
  for (int loss = 0; loss < 4; ++loss) {
    EXPECT_TRUE(policy.AfterLoss(At(100 * loss), At(0), true).has_value());
  }
  EXPECT_EQ(policy.AfterLoss(At(400), At(0), true), std::nullopt);
}

TEST_F(RestartPolicyTest, ForgetsWhatWasBefore) {
  RestartPolicy policy(options_, 1);
  for (int loss = 0; loss < 5; ++loss) policy.AfterLoss(At(0), std::nullopt, true);
  policy.Forget();
  EXPECT_EQ(policy.AfterLoss(At(0), std::nullopt, true), absl::Seconds(1));
}

TEST_F(RestartPolicyTest, BlamesNobodyForSignalsFromOutside) {
  RestartPolicy policy(options_, 1);
  for (int loss = 0; loss < 50; ++loss) {
    EXPECT_TRUE(policy.AfterLoss(At(loss), At(0), false).has_value());
  }
}

TEST_F(RestartPolicyTest, ForgetsLossesOfMoreThanTenMinutesAgo) {
  RestartPolicy policy(options_, 1);
  for (int loss = 0; loss < 20; ++loss) {
    EXPECT_TRUE(policy.AfterLoss(At(151 * loss), At(0), true).has_value()) << loss;
  }
}

}  // namespace
}  // namespace reel::front
