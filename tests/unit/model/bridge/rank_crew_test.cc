// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/rank_crew.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

std::vector<at::Device> Cpus(int count) {
  return std::vector<at::Device>(static_cast<size_t>(count), at::kCPU);
}

// What a run comes to.
absl::Status StatusOf(RankCrew& crew, const std::function<void(int)>& work) {
  return TorchGuard([&] {
    crew.Run(work);
    return absl::OkStatus();
  });
}

TEST(RankCrew, OneRankIsTheCaller) {
  RankCrew crew(Cpus(1));
  std::thread::id worked;
  crew.Run([&](int rank) {
    EXPECT_EQ(rank, 0);
    worked = std::this_thread::get_id();
  });
  EXPECT_EQ(worked, std::this_thread::get_id());
}

TEST(RankCrew, EachRankWorksOnAThreadOfItsOwnWithoutGradients) {
  RankCrew crew(Cpus(2));
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::thread::id> threads(2);
    std::atomic<int> inferring = 0;
    crew.Run([&](int rank) {
      threads[static_cast<size_t>(rank)] = std::this_thread::get_id();
      inferring += c10::InferenceMode::is_enabled() ? 1 : 0;
    });
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    EXPECT_NE(threads[1], threads[0]);
    EXPECT_EQ(inferring, 2);
  }
}

TEST(RankCrew, RanksWorkAtTheSameTime) {
  RankCrew crew(Cpus(2));
  std::atomic<int> here = 0;
  crew.Run([&](int) {
    ++here;
    while (here < 2) std::this_thread::yield();  // for ever, if one came after the other
  });
  EXPECT_EQ(here, 2);
}

TEST(RankCrew, SwapGivesEachWhatTheOtherHad) {
  RankCrew crew(Cpus(2));
  constexpr int kTimes = 100;
  std::atomic<int> right = 0;
  crew.Run([&](int rank) {
    for (int i = 0; i < kTimes; ++i) {
      const at::Tensor theirs = crew.Swap(rank, at::full({3}, 10 * i + rank, at::kFloat));
      right += theirs.equal(at::full({3}, 10 * i + 1 - rank, at::kFloat)) ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 2 * kTimes);
}

class EitherRank : public ::testing::TestWithParam<int> {};

TEST_P(EitherRank, AFailureIsTheRunsOwnAndTheNextRunIsWhole) {
  RankCrew crew(Cpus(2));
  for (int turn = 0; turn < 3; ++turn) {
    const absl::Status failed = StatusOf(crew, [](int rank) {
      if (rank == GetParam()) ThrowIfError(absl::AbortedError("the device's context is lost"));
    });
    EXPECT_EQ(failed, absl::AbortedError("the device's context is lost"));
    std::atomic<int> worked = 0;
    EXPECT_TRUE(StatusOf(crew, [&](int) { ++worked; }).ok());
    EXPECT_EQ(worked, 2);
  }
}

TEST_P(EitherRank, AFailureWakesWhoWaitsForIt) {
  RankCrew crew(Cpus(2));
  for (int turn = 0; turn < 3; ++turn) {
    const absl::Status failed = StatusOf(crew, [&](int rank) {
      crew.Swap(rank, at::zeros({1}));
      if (rank == GetParam()) throw std::bad_alloc();
      crew.Swap(rank, at::zeros({1}));
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kResourceExhausted) << failed;
    // What was given and not taken is not there in the next run.
    std::atomic<int> right = 0;
    crew.Run([&](int rank) {
      const at::Tensor mine = at::full({}, rank, at::kFloat);
      right += crew.Swap(rank, mine).item<float>() == static_cast<float>(1 - rank) ? 1 : 0;
    });
    EXPECT_EQ(right, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(RankCrew, EitherRank, ::testing::Values(0, 1));

}  // namespace
}  // namespace reel::model
