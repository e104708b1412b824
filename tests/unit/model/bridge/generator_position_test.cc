// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/generator_position.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace reel::model {
namespace {

at::Tensor Next(at::Generator& generator, int64_t count) { return at::randn({count}, generator); }

TEST(GeneratorPosition, GoesOnWithTheSameNumbersFromAnywhere) {
  // Behind an odd number of draws half a pair of normal numbers waits.
  for (const int64_t drawn : {0, 1, 3, 15, 16, 17, 623, 624, 625, 5000}) {
    at::Generator generator = at::detail::createCPUGenerator(7);
    if (drawn > 0) Next(generator, drawn);
    const std::string position = PositionOf(generator);
    EXPECT_EQ(position, PositionOf(generator));
    auto again = GeneratorAt(position);
    ASSERT_TRUE(again.ok()) << drawn << again.status();
    for (const int64_t count : {1, 1, 20, 700}) {
      EXPECT_TRUE(Next(generator, count).equal(Next(*again, count))) << drawn;
    }
  }
}

TEST(GeneratorPosition, RefusesWhatNoGeneratorHas) {
  at::Generator generator = at::detail::createCPUGenerator(7);
  Next(generator, 100);
  const std::string position = PositionOf(generator);
  for (const std::string& other : {std::string(), position.substr(1), position + "x"}) {
    EXPECT_EQ(GeneratorAt(other).status().code(), absl::StatusCode::kFailedPrecondition);
  }
  // Its table's counters lie behind the seed: left, seeded, next.
  const auto with = [&](size_t offset, auto value) {
    std::string changed = position;
    std::memcpy(changed.data() + offset, &value, sizeof(value));
    return GeneratorAt(changed).status().code();
  };
  EXPECT_EQ(with(8, int32_t{0}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with(8, int32_t{-5}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with(8, int32_t{624}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with(12, int32_t{0}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with(16, uint64_t{624}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with(16, uint64_t{1} << 40), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model
