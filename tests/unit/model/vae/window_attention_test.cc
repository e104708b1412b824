// SPDX-License-Identifier: Apache-2.0
// Attention in windows against one over the whole grid with a mask.
#include "model/vae/window_attention.h"

#include <array>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

using Sides = std::array<int64_t, 3>;

at::Tensor DrawnGrid(uint64_t seed, const Sides& grid, int64_t heads, int64_t width) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::randn({grid[0], grid[1], grid[2], heads, width}, generator,
                   at::TensorOptions(at::kFloat));
}

// Whether a query of one axis sees a key, [all, all]: the window lies around the query, or at the
// edge that it would reach beyond.
at::Tensor SeesOnAxis(int64_t all, int64_t window) {
  const at::Tensor sees = at::zeros({all, all}, at::kBool);
  for (int64_t q = 0; q < all; ++q) {
    int64_t first = q - window / 2;
    if (first < 0) first = 0;
    if (first + window > all) first = all - window;
    sees[q].slice(0, first, first + window).fill_(true);
  }
  return sees;
}

at::Tensor OverTheWholeGrid(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const Sides& grid, const Sides& window) {
  const auto axis = [&](size_t i, at::IntArrayRef sizes) {
    return SeesOnAxis(grid[i], window[i]).view(sizes);
  };
  const at::Tensor sees = axis(0, {grid[0], 1, 1, grid[0], 1, 1})
                              .logical_and(axis(1, {1, grid[1], 1, 1, grid[1], 1}))
                              .logical_and(axis(2, {1, 1, grid[2], 1, 1, grid[2]}))
                              .reshape({grid[0] * grid[1] * grid[2], -1});
  const auto heads = [](const at::Tensor& x) { return x.flatten(0, 2).transpose(0, 1); };
  const at::Tensor scores =
      heads(q)
          .matmul(heads(k).transpose(1, 2))
          .masked_fill(sees.logical_not().unsqueeze(0), -std::numeric_limits<double>::infinity());
  return scores.softmax(-1).matmul(heads(v)).transpose(0, 1).reshape(q.sizes());
}

struct WindowCase {
  Sides grid, window;
};

std::vector<WindowCase> WindowCases() {
  return {{{1, 1, 1}, {1, 1, 1}},  {{3, 7, 7}, {3, 7, 7}},   {{11, 11, 11}, {11, 11, 11}},
          {{5, 9, 20}, {3, 7, 7}}, {{12, 8, 16}, {3, 5, 5}}, {{9, 17, 25}, {5, 3, 11}},
          {{4, 23, 9}, {3, 5, 9}}, {{8, 8, 8}, {1, 1, 1}},   {{17, 12, 13}, {11, 11, 11}},
          {{6, 10, 12}, {2, 4, 6}}};
}

TEST(WindowAttention, EqualsAttentionOverTheWholeGridWithAMask) {
  const TestRun test;
  const Ops ops(test.run);
  for (const auto& [grid, window] : WindowCases()) {
    const at::Tensor q = DrawnGrid(1, grid, 2, 8), k = DrawnGrid(2, grid, 2, 8),
                     v = DrawnGrid(3, grid, 2, 8);
    const at::Tensor made = WindowAttention(
        ops, q, k, v,
        {WindowAxis::Whole(window[0], grid[0]), WindowAxis::Whole(window[1], grid[1]),
         WindowAxis::Whole(window[2], grid[2])});
    const at::Tensor wanted = OverTheWholeGrid(q, k, v, grid, window);
    EXPECT_LT((made - wanted).abs().max().item<double>(), 1e-5)
        << grid[0] << "x" << grid[1] << "x" << grid[2] << " by " << window[0] << "x" << window[1]
        << "x" << window[2];
  }
}

TEST(WindowAttention, TakesSomeFramesOfAClipWhoseLaterOnesAreUnknown) {
  const TestRun test;
  const Ops ops(test.run);
  const Sides grid = {20, 5, 6}, window = {5, 3, 3};
  const at::Tensor q = DrawnGrid(1, grid, 1, 8), k = DrawnGrid(2, grid, 1, 8),
                   v = DrawnGrid(3, grid, 1, 8);
  const at::Tensor wanted = OverTheWholeGrid(q, k, v, grid, window);
  const auto some = [&](const WindowAxis& frames) {
    const auto keys = [&](const at::Tensor& of) {
      return of.narrow(0, frames.first_key, frames.keys);
    };
    return WindowAttention(
        ops, q.narrow(0, frames.first_query, frames.queries), keys(k), keys(v),
        {frames, WindowAxis::Whole(window[1], grid[1]), WindowAxis::Whole(window[2], grid[2])});
  };
  constexpr int64_t kUnknown = 1 << 30;
  const std::vector<WindowAxis> parts = {
      {5, kUnknown, 0, 3, 0, 5}, {5, kUnknown, 3, 10, 1, 14}, {5, 20, 13, 7, 9, 11}};
  for (const WindowAxis& part : parts) {
    const at::Tensor whole = wanted.narrow(0, part.first_query, part.queries);
    EXPECT_LT((some(part) - whole).abs().max().item<double>(), 1e-5) << part.first_query;
  }
}

}  // namespace
}  // namespace reel::model
