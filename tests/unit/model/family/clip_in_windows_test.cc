// SPDX-License-Identifier: Apache-2.0
// A refined clip between its windows, without a model.
#include "model/family/clip_in_windows.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kEach = 8;  // frames of a latent

ClipInWindows Clip(std::vector<Stretch> windows) {
  ClipInWindows clip;
  clip.windows = std::move(windows);
  return clip;
}

// Each latent is its number.
at::Tensor Numbers(int64_t first, int64_t count) {
  return at::arange(first, first + count, at::kFloat).view({1, 1, count, 1, 1});
}

TEST(ClipInWindows, IsEncodedInPiecesThatLookBack) {
  ClipInWindows clip = Clip({{0, 37}});
  std::vector<std::pair<int64_t, int64_t>> asked;
  const auto encode = [&](int64_t first, int64_t count) {
    asked.emplace_back(first, count);
    return Numbers(first / kEach, (count - 1) / kEach + 1);
  };
  int pieces = 0;
  while (EncodeNextPiece(clip, kEach, encode)) ++pieces;
  EXPECT_EQ(pieces, 3);
  EXPECT_THAT(asked, ElementsAre(std::pair(0, 15 * 8 + 1), std::pair(12 * 8, 19 * 8 + 1),
                                 std::pair(28 * 8, 8 * 8 + 1)));
  const at::Tensor whole = at::cat(clip.encoded, 2);
  EXPECT_TRUE(whole.equal(Numbers(0, 37))) << "each latent once";
  TakeLatents(clip, whole);
  EXPECT_TRUE(clip.encoded.empty());
  EXPECT_EQ(clip.pixels, nullptr);
}

TEST(ClipInWindows, KeepsWhatItsWindowsHaveMade) {
  ClipInWindows clip = Clip({{0, 4}, {2, 6}});
  clip.latents = Numbers(0, 6);
  const at::Tensor first = at::full({1, 1, 4, 1, 1}, 100.0F), second = first + 100;
  EXPECT_EQ(LatentsThatStay(clip, false), 0);
  EXPECT_EQ(LatentsThatStay(clip, true), 4);
  EXPECT_EQ(LatentAt(clip, 3, first).item<float>(), 100);
  EXPECT_EQ(LatentAt(clip, 4, first).item<float>(), 4) << "behind the window";
  const ClipInWindows next = BehindWindow(clip, first);
  EXPECT_EQ(next.windows_left(), 0U);
  EXPECT_EQ(LatentsThatStay(next, false), 4);
  EXPECT_EQ(LatentsThatStay(next, true), 6);
  EXPECT_EQ(LatentAt(next, 3, second).item<float>(), 100) << "made by the window before";
  EXPECT_EQ(LatentAt(next, 4, second).item<float>(), 200);
  EXPECT_TRUE(clip.latents.equal(Numbers(0, 6))) << "a copy";
}

TEST(ClipInWindows, GivesNoLatentBeforeItStays) {
  const TestRun test;
  const Ops ops(test.run);
  int64_t stay = 0;
  const FrameSourcePtr source =
      SourceOf({.all = 2,
                .that_stay = [&] { return stay; },
                .decodable = [](int64_t index) { return Numbers(index, 1); }});
  EXPECT_TRUE(source->Next(ops).none());
  stay = 1;
  const Frames first = source->Next(ops);
  EXPECT_EQ(first.x.item<float>(), 0);
  EXPECT_FALSE(first.last);
  EXPECT_TRUE(source->Next(ops).none());
  stay = 2;
  const Frames second = source->Next(ops);
  EXPECT_EQ(second.x.item<float>(), 1);
  EXPECT_TRUE(second.last);
}

}  // namespace
}  // namespace reel::model
