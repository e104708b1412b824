// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/token_layout.h"

#include "gtest/gtest.h"

namespace reel::model {
namespace {

using Order = TokenLayout::Order;

// One value for each row, in each of its tokens: [B, S, 1].
at::Tensor Rows(const std::vector<float>& values, int64_t tokens = 1) {
  return at::tensor(values).view({-1, 1, 1}).repeat({1, tokens, 1});
}

TokenLayout One(std::vector<int64_t> rows, std::vector<bool> has_one_key,
                Order order = Order::kByVideo, bool perturbs = false) {
  std::vector<TokenGroup> groups(1);
  groups[0] = {.tokens = 1,
               .rows = std::move(rows),
               .has_one_key = std::move(has_one_key),
               .perturbs = perturbs};
  return TokenLayout(std::move(groups), order);
}

TEST(TokenLayout, AVideoAloneIsOneRowForAllUntilItsTextAndThenAView) {
  TokenLayout layout = One({2}, {true, false});
  EXPECT_EQ(layout.rows(0), 1);
  EXPECT_EQ(layout.text_rows(0), 2);
  EXPECT_EQ(layout.all_rows(0), 2);
  EXPECT_FALSE(layout.is_split_by_text());
  const at::Tensor x = Rows({7});
  EXPECT_TRUE(layout.ForAllRows(x, 0).is_alias_of(x));
  EXPECT_FALSE(layout.AllRows(x, 0).is_alias_of(x));
  const at::Tensor split = layout.SplitByText(x);
  EXPECT_TRUE(split.is_alias_of(x));
  EXPECT_TRUE(split.equal(Rows({7, 7})));
  EXPECT_EQ(layout.rows(0), 2);
  EXPECT_TRUE(layout.SplitByText(split).is_same(split));
}

TEST(TokenLayout, EachRowGetsItsVideosValue) {
  TokenLayout layout = One({2, 1}, {false, false, false});
  EXPECT_TRUE(layout.ForRows(Rows({7, 8}), 0).equal(Rows({7, 8})));
  EXPECT_TRUE(layout.SplitByText(Rows({7, 8})).equal(Rows({7, 7, 8})));
  EXPECT_TRUE(layout.ForRows(Rows({7, 8}), 0).equal(Rows({7, 7, 8})));
}

TEST(TokenLayout, RowsThatAskComeFirstAndGoBackToTheirVideos) {
  TokenLayout layout = One({2, 2}, {true, false, true, false}, Order::kAskingFirst);
  EXPECT_TRUE(layout.SplitByText(Rows({7, 8})).equal(Rows({7, 8, 7, 8})));
  // Rows 0 and 2 have the known answers, which stand last.
  EXPECT_TRUE(layout.Asking(Rows({1, 3, 0, 2}), 0).equal(Rows({1, 3})));
  EXPECT_TRUE(layout.ByVideo(Rows({1, 3, 0, 2}), 0).equal(Rows({0, 1, 2, 3})));
  EXPECT_TRUE(One({2, 2}, {true, false, true, false}).ByVideo(Rows({0}), 0).equal(Rows({0})));
}

TEST(TokenLayout, APerturbedRowIsThePromptsUntilItsBlock) {
  TokenLayout layout = One({3}, {true, false, false}, Order::kByVideo, true);
  EXPECT_EQ(layout.text_rows(0), 2);
  at::Tensor x = layout.SplitByText(Rows({5}));
  EXPECT_TRUE(x.equal(Rows({5, 5})));
  x = layout.SplitPerturbed(Rows({5, 6}));
  EXPECT_TRUE(x.equal(Rows({5, 6, 6})));
  EXPECT_EQ(layout.text_rows(0), 3);
  EXPECT_TRUE(layout.Asking(x, 0).equal(Rows({6, 6})));
}

TEST(TokenLayout, RowsThatAreGivenApartStayApart) {
  const std::vector<bool> asks(3, false);
  const auto with = [&](int64_t given) {
    return TokenLayout(
        {{.tokens = 1, .rows = {3}, .has_one_key = asks, .given = given, .perturbs = true}},
        Order::kByVideo);
  };
  EXPECT_EQ(with(2).text_rows(0), 2);
  EXPECT_TRUE(with(2).is_split_by_text());
  EXPECT_EQ(with(3).text_rows(0), 3);
  EXPECT_EQ(with(3).rows(0), 3);
}

TEST(TokenLayout, NeighboursThatAskAreAView) {
  const TokenLayout layout = One({3}, {true, false, false});
  const at::Tensor all = Rows({0, 1, 2});
  EXPECT_TRUE(layout.Asking(all, 0).is_alias_of(all));
  EXPECT_TRUE(layout.Asking(all, 0).equal(all.slice(0, 1)));
  EXPECT_TRUE(layout.Known(all, 0).equal(all.slice(0, 0, 1)));
}

TEST(TokenLayout, EqualRowsMakeOneQueryAndEachAskingRowGetsIt) {
  TokenLayout layout = One({3}, {false, true, false});
  const at::Tensor queries = layout.AskingRows(Rows({4}));
  EXPECT_TRUE(queries.equal(Rows({4})));
  EXPECT_TRUE(layout.Questions(queries, 0).equal(Rows({4, 4})));
  const at::Tensor x = layout.SplitByText(Rows({4}));
  EXPECT_TRUE(layout.AskingRows(x).equal(Rows({4, 4})));
}

TEST(TokenLayout, AnswersStandInTheOrderOfTheRowsInFewParts) {
  TokenLayout layout({{.tokens = 4, .rows = {5}, .has_one_key = {true, false, true, false, false}}},
                     Order::kByVideo);
  const std::vector<at::Tensor> parts = layout.Answers(Rows({10, 11, 12}, 4), {Rows({0, 1})});
  EXPECT_LE(parts.size(), 3u);
  EXPECT_TRUE(at::cat(parts).equal(Rows({0, 10, 1, 11, 12}, 4)));
  const TokenLayout silent = One({2}, {true, true});
  EXPECT_FALSE(silent.asks(0));
  EXPECT_FALSE(silent.AskingRows(Rows({0})).defined());
  EXPECT_TRUE(at::cat(silent.Answers({}, {Rows({3, 4})})).equal(Rows({3, 4})));
}

// Two videos of three tokens, and one of five, whose negative prompt is empty.
TokenLayout TwoSizes() {
  return TokenLayout({{.tokens = 3, .rows = {1, 1}, .has_one_key = {false, true}},
                      {.tokens = 5, .rows = {2}, .has_one_key = {true, false}}},
                     Order::kAskingFirst);
}

TEST(TokenLayout, GroupsOfSeveralSizesStandOneBehindTheOther) {
  TokenLayout layout = TwoSizes();
  const std::vector<at::Tensor> parts = {Rows({1, 2}, 3), Rows({3}, 5)};
  at::Tensor x = TokenLayout::Join(parts);
  EXPECT_EQ(x.sizes(), at::IntArrayRef({1, 11, 1}));
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_TRUE(layout.Group(x, i).equal(parts[i]));
    EXPECT_TRUE(layout.Group(x, i).is_alias_of(x));
  }
  EXPECT_TRUE(TokenLayout::Join({parts[0]}).is_same(parts[0]));
  x = layout.SplitByText(x);
  EXPECT_EQ(x.sizes(), at::IntArrayRef({1, 16, 1}));
  EXPECT_TRUE(layout.Group(x, 1).equal(Rows({3, 3}, 5)));
}

TEST(TokenLayout, AnswersOfSeveralSizesAreOneTensor) {
  TokenLayout layout = TwoSizes();
  at::Tensor x = TokenLayout::Join({Rows({1, 2}, 3), Rows({3}, 5)});
  for (const bool is_split : {false, true}) {
    if (is_split) x = layout.SplitByText(x);
    const at::Tensor queries = layout.AskingRows(x);
    EXPECT_TRUE(queries.equal(TokenLayout::Join({Rows({1}, 3), Rows({3}, 5)})));
    EXPECT_TRUE(layout.Questions(queries, 0).equal(Rows({1}, 3)));
    EXPECT_TRUE(layout.Questions(queries, 1).equal(Rows({3}, 5)));
  }
  const std::vector<at::Tensor> answers =
      layout.Answers(TokenLayout::Join({Rows({10}, 3), Rows({30}, 5)}), {Rows({20}), Rows({40})});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].equal(TokenLayout::Join({Rows({10, 20}, 3), Rows({40, 30}, 5)})));
}

// A video's tokens each have one of its times; the second group's one time serves both rows.
TEST(TokenLayout, IndicesOfAllRowsPointIntoOneTable) {
  TokenLayout layout = TwoSizes();
  const at::Tensor first = at::tensor({0, 1, 1, 2, 2, 0}, at::kInt).view({2, 3});
  const at::Tensor second = at::zeros({1, 5}, at::kInt);
  layout.SplitByText(TokenLayout::Join({Rows({1, 2}, 3), Rows({3}, 5)}));
  const at::Tensor indices = layout.JoinIndices({first, second}, {3, 1});
  EXPECT_EQ(indices.scalar_type(), at::kInt);
  EXPECT_TRUE(indices.is_contiguous());
  EXPECT_TRUE(indices.equal(at::cat({first.flatten(), at::full({10}, 3, at::kInt)}).unsqueeze(0)));
}

}  // namespace
}  // namespace reel::model
