// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/rank_crew.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/cpu_link.h"

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

// Of every rank to every other one, however far one is ahead.
TEST(RankCrew, EachTakesWhatWasGivenToItInTheGiversOrder) {
  constexpr int kRanks = 4, kTimes = 100;
  RankCrew crew(Cpus(kRanks));
  const auto given = [](int from, int to, int time) {
    return at::full({3}, 1000 * from + 100 * to + time, at::kFloat);
  };
  std::atomic<int> right = 0;
  crew.Run([&](int rank) {
    for (int time = 0; time < kTimes; ++time) {
      for (int to = 0; to < kRanks; ++to) {
        if (to != rank) crew.Give(rank, to, given(rank, to, time));
      }
      for (int from = 0; from < kRanks; ++from) {
        if (from == rank) continue;
        at::Tensor theirs = at::empty({3});
        if (time % 2 == 0) {
          theirs = crew.Take(rank, from);
        } else {
          crew.TakeInto(rank, from, theirs);
        }
        right += theirs.equal(given(from, rank, time)) ? 1 : 0;
      }
    }
  });
  EXPECT_EQ(right, kRanks * (kRanks - 1) * kTimes);
}

// Of two ranks: to the other, and from it.
at::Tensor Trade(RankCrew& crew, int rank, const at::Tensor& mine) {
  crew.Give(rank, 1 - rank, mine);
  return crew.Take(rank, 1 - rank);
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

TEST_P(EitherRank, AFailureEndsExchangesOfALinkToo) {
  auto made = std::make_unique<CpuLink>(2);
  CpuLink& link = *made;
  RankCrew crew(Cpus(2), std::move(made));
  link.Reserve(1024);
  const auto exchange = [&](int rank, int64_t number) {
    const at::Tensor mine = at::full({1, 1, 4}, rank, at::kFloat);
    return link.OfAll({rank, 0, 2, number, rank, 2}, mine, mine).select(1, 1 - rank);
  };
  for (int turn = 0; turn < 3; ++turn) {
    const absl::Status failed = StatusOf(crew, [&](int rank) {
      exchange(rank, 0);
      if (rank == GetParam()) throw std::bad_alloc();
      exchange(rank, 1);
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kResourceExhausted) << failed;
    std::atomic<int> right = 0;
    EXPECT_TRUE(StatusOf(crew, [&](int rank) {
                  for (int64_t number = 0; number < 3; ++number) {
                    right += (exchange(rank, number) == 1 - rank).all().item<bool>() ? 1 : 0;
                  }
                }).ok());
    EXPECT_EQ(right, 6);
    EXPECT_EQ(link.renewals(), turn + 1);
  }
}

TEST_P(EitherRank, AFailureWakesWhoWaitsForIt) {
  RankCrew crew(Cpus(2));
  for (int turn = 0; turn < 3; ++turn) {
    const absl::Status failed = StatusOf(crew, [&](int rank) {
      Trade(crew, rank, at::zeros({1}));
      if (rank == GetParam()) throw std::bad_alloc();
      Trade(crew, rank, at::zeros({1}));
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kResourceExhausted) << failed;
    // What was given and not taken is not there in the next run.
    std::atomic<int> right = 0;
    crew.Run([&](int rank) {
      const at::Tensor mine = at::full({}, rank, at::kFloat);
      right += Trade(crew, rank, mine).item<float>() == static_cast<float>(1 - rank) ? 1 : 0;
    });
    EXPECT_EQ(right, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(RankCrew, EitherRank, ::testing::Values(0, 1));

}  // namespace
}  // namespace reel::model
