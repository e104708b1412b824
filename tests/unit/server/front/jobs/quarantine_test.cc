// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/jobs/blame.h"

namespace reel::front {
namespace {

WorkShape Shape(int64_t tokens) {
  WorkShape shape;
  shape.model = "m";
  shape.passes = {{.tokens = tokens, .rows = tokens, .steps = 1}};
  return shape;
}

TEST(Quarantine, OneLossIsAnAccident) {
  Quarantine quarantine;
  quarantine.Blame(Shape(1), absl::Minutes(1));
  EXPECT_EQ(quarantine.Left(Shape(1), absl::Minutes(1)), absl::ZeroDuration());
}

TEST(Quarantine, TwoInTenMinutesKeepTheShapeOutForTen) {
  Quarantine quarantine;
  quarantine.Blame(Shape(1), absl::Minutes(1));
  quarantine.Blame(Shape(1), absl::Minutes(5));
  EXPECT_EQ(quarantine.Left(Shape(1), absl::Minutes(6)), absl::Minutes(9));
  EXPECT_EQ(quarantine.Left(Shape(1), absl::Minutes(15)), absl::ZeroDuration());
  EXPECT_EQ(quarantine.Left(Shape(2), absl::Minutes(6)), absl::ZeroDuration());
}

TEST(Quarantine, TwoFarApartAreAccidents) {
  Quarantine quarantine;
  quarantine.Blame(Shape(1), absl::Minutes(1));
  quarantine.Blame(Shape(1), absl::Minutes(12));
  EXPECT_EQ(quarantine.Left(Shape(1), absl::Minutes(12)), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
