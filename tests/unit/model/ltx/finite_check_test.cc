// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/finite_check.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model::ltx {
namespace {

class FiniteCheckTest : public DeviceTest {
 protected:
  at::Tensor Ones() const { return at::ones({2, 3, 5}, at::TensorOptions(device_)); }
};

TEST_F(FiniteCheckTest, AnswersForTheNumbersOfTheTimeWhenItWasAsked) {
  at::Tensor x = Ones();
  const FiniteCheck first({x}, 1);
  x.select(0, 1).fill_(std::nan(""));
  const FiniteCheck second({x}, 2);
  x.fill_(0);
  const FiniteCheck third({x}, 3);
  EXPECT_TRUE(first.Wait().ok());
  EXPECT_TRUE(third.Wait().ok());
  const absl::Status status = second.Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("after step 2"), std::string::npos);
}

TEST_F(FiniteCheckTest, TakesInfinitiesForWhatTheyAre) {
  for (const double value : {HUGE_VAL, -HUGE_VAL}) {
    at::Tensor x = Ones();
    x[1][2][4] = value;
    EXPECT_EQ(FiniteCheck({x}, 1).Wait().code(), absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace reel::model::ltx
