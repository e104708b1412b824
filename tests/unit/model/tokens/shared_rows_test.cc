// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/shared_rows.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

using Order = SharedRows::Order;

// One value for each row.
at::Tensor Values(const std::vector<float>& values) { return at::tensor(values).reshape({-1, 1}); }

TEST(SharedRows, AVideoAloneIsSharedByAllOfItsRows) {
  const std::vector<int64_t> of_clip = {2};
  const std::vector<bool> one_key = {true, false};
  const SharedRows rows({.of_clip = of_clip, .clips = 1, .has_one_key = one_key}, Order::kClips);
  EXPECT_EQ(rows.all(), 2);
  EXPECT_FALSE(rows.has_several_clips());
  const at::Tensor x = Values({7});
  EXPECT_TRUE(at::equal(rows.To(x, 2), Values({7, 7})));
  EXPECT_TRUE(rows.ViewTo(x, 2).is_alias_of(x));
}

TEST(SharedRows, EachRowGetsItsVideosValue) {
  const std::vector<int64_t> of_clip = {2, 1};
  const std::vector<bool> one_key = {false, false, false};
  const SharedRows rows({.of_clip = of_clip, .clips = 2, .has_one_key = one_key}, Order::kClips);
  EXPECT_TRUE(at::equal(rows.To(Values({7, 8}), 3), Values({7, 7, 8})));
}

TEST(SharedRows, RowsThatAskComeFirstAndGoBackToTheirPlaces) {
  const std::vector<int64_t> of_clip = {2, 2};
  const std::vector<bool> one_key = {true, false, true, false};
  const SharedRows rows({.of_clip = of_clip, .clips = 2, .has_one_key = one_key},
                        Order::kAskingFirst);
  EXPECT_EQ(rows.has_one_key(), (std::vector<bool>{false, false, true, true}));
  const at::Tensor x = rows.To(Values({7, 8}), 4);
  EXPECT_TRUE(at::equal(x, Values({7, 8, 7, 8})));
  // Rows 0 and 2 have the known answers, which stand last.
  EXPECT_TRUE(at::equal(rows.InOrderOfClips(Values({1, 3, 0, 2})), Values({0, 1, 2, 3})));
}

TEST(SharedRows, APerturbedRowIsThePromptsUntilItsBlock) {
  const std::vector<int64_t> of_clip = {3};
  const std::vector<bool> one_key = {true, false, false};
  const SharedRows rows({.of_clip = of_clip, .clips = 1, .has_one_key = one_key, .perturbs = true},
                        Order::kClips);
  EXPECT_EQ(rows.until_perturbed(), 2);
  EXPECT_TRUE(at::equal(rows.To(Values({5, 6}), 3), Values({5, 6, 6})));
}

}  // namespace
}  // namespace reel::model
