// SPDX-License-Identifier: Apache-2.0
// The parts of a group: exchange of keys and values of all tokens, and weights that are read once.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/layers/weights.h"
#include "model/tokens/rank_tokens.h"
#include "tests/unit/model/bridge/cpu_link.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

RankCrew CpusOfTokens(int ranks, std::unique_ptr<RankLink> link = nullptr) {
  return RankCrew(std::vector<at::Device>(static_cast<size_t>(ranks), at::kCPU), std::move(link));
}

// Every token is one rank's of a half, and no rank has two more than another.
TEST(GroupTokens, AreDividedAsEvenlyAsTheyCanBe) {
  for (const int ranks : {1, 2, 3, 4}) {
    RankCrew crew = CpusOfTokens(ranks);
    for (const int halves : {1, 2}) {
      if (ranks % halves != 0) continue;
      for (const int64_t all : {1, 2, 3, 7, 30, 31}) {
        const std::vector<RankTokens> parts = RankTokens::OfCrew(crew, halves == 2, all);
        ASSERT_EQ(parts.size(), static_cast<size_t>(ranks));
        const auto of_half = static_cast<int64_t>(ranks / halves);
        for (int rank = 0; rank < ranks; ++rank) {
          const RankTokens& part = parts[static_cast<size_t>(rank)];
          const auto place = rank % of_half;
          EXPECT_EQ(part.rank, rank);
          EXPECT_EQ(part.first_rank, rank - place);
          EXPECT_EQ(part.ranks, std::min(of_half, all));
          const TokenRange own = part.own();
          if (place >= all) {
            EXPECT_EQ(own.count, 0);
            continue;
          }
          EXPECT_GE(own.count, all / part.ranks);
          EXPECT_LE(own.count, (all + part.ranks - 1) / part.ranks);
          const bool is_last = place + 1 == part.ranks;
          EXPECT_EQ(own.first + own.count, is_last ? all : part.Of(rank + 1).first);
          EXPECT_EQ(own.first == 0, place == 0);
        }
      }
    }
  }
}

// Those of all at every rank, again and again: also where they are a part of something wider, as
// values are, and of several rows.
void ExpectExchanged(RankCrew& crew, bool in_halves, int64_t all) {
  constexpr int kTimes = 5;
  std::vector<RankTokens> parts = RankTokens::OfCrew(crew, in_halves, all);
  for (RankTokens& part : parts) part.link = crew.link();
  if (crew.link() != nullptr) crew.link()->Reserve(2 * all * 2 * 12 * sizeof(float));
  std::vector<std::string> wrong(parts.size());
  crew.Run([&](int rank) {
    RankTokens& part = parts[static_cast<size_t>(rank)];
    if (part.own().count == 0) return;
    for (int64_t time = 0; time < kTimes; ++time) {
      const auto seed = static_cast<uint64_t>(2 * time);
      const at::Tensor k = Draw(seed, {2, all, 12}), v = Draw(seed + 1, {2, all, 12});
      const at::Tensor wide = at::cat({part.Own(v), part.Own(k)}, 2);
      const auto [all_k, all_v] = part.OfAll(part.Own(k), wide.slice(2, 0, 12), time);
      if (all_k.equal(k) && all_v.equal(v)) continue;
      wrong[static_cast<size_t>(rank)] += " " + std::to_string(time);
    }
  });
  for (size_t rank = 0; rank < wrong.size(); ++rank) {
    EXPECT_EQ(wrong[rank], "") << "rank " << rank << " of " << crew.size() << ", " << all;
  }
}

TEST(GroupTokens, KeysAndValuesOfAllComeTogetherAtEveryRank) {
  const c10::InferenceMode no_gradients;
  for (const int ranks : {2, 3, 4}) {
    RankCrew by_copies = CpusOfTokens(ranks);
    RankCrew linked = CpusOfTokens(ranks, std::make_unique<CpuLink>(ranks));
    for (const int64_t all : {2, 7, 30}) {
      for (RankCrew* const crew : {&by_copies, &linked}) {
        ExpectExchanged(*crew, false, all);
        if (ranks % 2 == 0) ExpectExchanged(*crew, true, all);
      }
    }
  }
}

TEST(GroupWeights, AreReadByTheFirstRankAndCopiedByTheOthers) {
  const TinyFolder folder("0.9.5");
  const auto stored =
      WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
  ASSERT_TRUE(stored.ok()) << stored.status();
  TensorsByName shared;
  Weights first(*stored, at::kFloat, at::kCPU, &shared);
  const std::string name = "proj_out.bias";
  const at::Tensor read = first.Take(name, {8});
  ASSERT_TRUE(read.defined());
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_TRUE(shared.at(name).is_same(read));
  shared.at(name) = read + 1;  // which no file has
  Weights second(*stored, at::kFloat, at::kCPU, &shared);
  EXPECT_TRUE(second.Take(name, {8}).equal(read + 1));
  EXPECT_EQ(second.parameters(), first.parameters());
  EXPECT_FALSE(second.Take(name, {9}).defined());
  EXPECT_FALSE(second.Finish().ok());
}

}  // namespace
}  // namespace reel::model::ltx
