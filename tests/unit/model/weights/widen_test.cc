// SPDX-License-Identifier: Apache-2.0
#include "model/weights/widen.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/weight_set.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;

std::vector<float> ValuesOf(const std::vector<TypedTensor>& tensors, int64_t first, size_t count) {
  const reel::testing::TempFolder folder;
  const auto set = WeightSet::OpenFile(folder.Write("f", SafetensorsOfTypes(tensors)));
  EXPECT_TRUE(set.ok()) << set.status();
  std::vector<float> values(count);
  Widen(*set->Find("a.weight"), first, absl::MakeSpan(values));
  return values;
}

TEST(Widen, ReadsEightBitFloats) {
  EXPECT_THAT(
      ValuesOf({{"a.weight", "F8_E4M3", {6}, std::string("\x00\x01\x08\x38\x7e\xb8", 6)}}, 0, 6),
      ElementsAre(0, 0x1p-9f, 0x1p-6f, 1, 448, -1));
  EXPECT_THAT(ValuesOf({{"a.weight", "F8_E5M2", {4}, "\x01\x3c\x7b\xbc"}}, 0, 4),
              ElementsAre(0x1p-16f, 1, 57344, -1));
}

TEST(Widen, BeginsAnywhereInARow) {
  const std::vector<TypedTensor> tensors = {{"a.weight", "I8", {3, 2}, "\x01\x02\x03\x04\x05\x06"},
                                            {"a.SCB", "F32", {3}, BytesOfFloats({127, 254, 508})}};
  EXPECT_THAT(ValuesOf(tensors, 0, 6), ElementsAre(1, 2, 6, 8, 20, 24));
  EXPECT_THAT(ValuesOf(tensors, 1, 4), ElementsAre(2, 6, 8, 20));
}

// 1 + 2^-8 lies in the middle between two bf16.
TEST(Widen, RoundsAProductToTheEvenBf16) {
  const auto rounded = [](float scale) {
    return ValuesOf({{"a.weight", "F8_E4M3", {1}, "\x38"},
                     {"a.weight_scale", "F32", {}, BytesOfFloats({scale})}},
                    0, 1)[0];
  };
  EXPECT_EQ(rounded(1 + 0x1p-8f), 1);
  EXPECT_EQ(rounded(1 + 0x1.8p-8f), 1 + 0x1p-7f);
  EXPECT_EQ(rounded(1 + 0x3p-8f), 1 + 0x1p-6f);
}

TEST(AllFinite, SeesInfAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(AllFinite({}));
  EXPECT_TRUE(AllFinite({0, -1, std::numeric_limits<float>::max()}));
  EXPECT_FALSE(AllFinite({0, inf}));
  EXPECT_FALSE(AllFinite({-inf, 0}));
  EXPECT_FALSE(AllFinite({std::nanf(""), 0}));
}

}  // namespace
}  // namespace reel::model
