// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/text_rows.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

at::Tensor Numbered(int64_t rows, int64_t tokens) {
  return at::arange(rows, at::kFloat).reshape({rows, 1, 1}).expand({rows, tokens, 2}).contiguous();
}

TEST(TextRows, NeighboursThatAskAreAView) {
  const TextRows rows({true, false, false});
  const at::Tensor all = Numbered(3, 1);
  EXPECT_TRUE(rows.Asking(all).is_alias_of(all));
  EXPECT_TRUE(at::equal(rows.Asking(all), all.slice(0, 1)));
  EXPECT_TRUE(at::equal(rows.Known(all), all.slice(0, 0, 1)));
}

TEST(TextRows, AnswersStandInTheOrderOfTheRows) {
  const TextRows rows({true, false, true, false, false});
  const at::Tensor asked = Numbered(3, 4) + 10, known = Numbered(2, 1);
  const at::Tensor answers = at::cat(rows.Answers(asked, known, 4));
  ASSERT_EQ(answers.sizes(), at::IntArrayRef({5, 4, 2}));
  EXPECT_TRUE(at::equal(answers.select(1, 3).select(1, 0),
                        at::tensor(std::vector<float>{0, 10, 1, 11, 12})));
}

TEST(TextRows, WhereNoneAsksAllAnswersAreKnown) {
  const TextRows rows({true, true});
  EXPECT_TRUE(rows.none_asks());
  EXPECT_EQ(at::cat(rows.Answers({}, Numbered(2, 1), 3)).size(1), 3);
}

}  // namespace
}  // namespace reel::model
