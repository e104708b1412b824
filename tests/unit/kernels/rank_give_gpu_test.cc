// SPDX-License-Identifier: Apache-2.0
// Ranks that write to each other, two of them on one device with a stream each: what one waits for
// comes beside it.
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/buffer.h"
#include "kernels/cuda/stream.h"
#include "kernels/dispatch/cuda_library.h"
#include "kernels/dispatch/rank_give_layout.h"
#include "tests/unit/kernels/cuda_library_path.h"

namespace reel::kernels {
namespace {

// Of two rows; values are a part of something wider.
constexpr int64_t kRows = 2, kTokens = 37, kTokenBytes = 528, kTimes = 5;
constexpr int64_t kOwn[] = {18, 19}, kFirst[] = {0, 18};
constexpr int64_t kPlaceBytes = kRows * kTokens * 2 * kTokenBytes;

// What the keys or values of a token are filled with.
int TagOf(int64_t time, int rank, bool is_key) {
  return static_cast<int>(1 + time * 4 + rank * 2 + (is_key ? 1 : 0));
}

struct RankMemory {
  std::vector<DeviceBuffer> keys, values;  // of each exchange
  std::vector<DeviceBuffer> places, words;
};

class RankGiveTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = LoadCudaLibrary(CudaLibraryPath());
    ASSERT_TRUE(library.ok()) << library.status();
    library_ = *library;
    if (!PropertiesOf(*library_, 0).ok()) {
      GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
    }
    auto given_up = PinnedBuffer::Create(sizeof(uint32_t));
    ASSERT_TRUE(given_up.ok()) << given_up.status();
    given_up_.push_back(*std::move(given_up));
    std::memset(given_up_[0].data(), 0, sizeof(uint32_t));
    for (const int rank : {0, 1}) {
      auto stream = CudaStream::Create(0);
      ASSERT_TRUE(stream.ok()) << stream.status();
      streams_.push_back(*std::move(stream));
      RankMemory& own = ranks_.emplace_back();
      for (int64_t time = 0; time < kTimes; ++time) {
        const int64_t bytes = kRows * kOwn[rank] * kTokenBytes;
        Make(own.keys, bytes, TagOf(time, rank, true));
        Make(own.values, 3 * bytes, TagOf(time, rank, false));
      }
      Make(own.places, kTimes * kPlaceBytes, 0);
      Make(own.words, (2 * kMostGivers + 1) * sizeof(uint32_t), 0);
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static void Make(std::vector<DeviceBuffer>& to, int64_t bytes, int filled) {
    auto made = DeviceBuffer::Create(0, static_cast<size_t>(bytes));
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_EQ(cudaMemset(made->data(), filled, static_cast<size_t>(bytes)), cudaSuccess);
    to.push_back(*std::move(made));
  }

  uint32_t* Word(int rank, int at) const {
    return static_cast<uint32_t*>(ranks_[static_cast<size_t>(rank)].words[0].data()) + at;
  }

  // Whom it tells and hears, without tokens.
  RankGive Silent(int rank) const {
    RankGive give{};
    give.ranks = 2;
    const int other = 1 - rank;
    give.told[other] = Word(other, rank);
    give.heard[other] = Word(rank, other);
    give.given[other] = Word(rank, kMostGivers + other);
    give.done = Word(rank, 2 * kMostGivers);
    give.given_up = static_cast<const uint32_t*>(given_up_[0].data());
    return give;
  }

  RankGive Of(int rank, int64_t time) const {
    const RankMemory& own = ranks_[static_cast<size_t>(rank)];
    RankGive give = Silent(rank);
    give.from[0] = own.keys[static_cast<size_t>(time)].data();
    give.from[1] = static_cast<char*>(own.values[static_cast<size_t>(time)].data()) + kTokenBytes;
    for (const int which : {0, 1}) {
      give.from_token[which] = (which == 0 ? 1 : 3) * kTokenBytes;
      give.from_row[which] = kOwn[rank] * give.from_token[which];
      give.to[which] = static_cast<char*>(ranks_[static_cast<size_t>(which)].places[0].data()) +
                       time * kPlaceBytes + kFirst[rank] * 2 * kTokenBytes;
    }
    give.rows = kRows;
    give.tokens = kOwn[rank];
    give.token_bytes = kTokenBytes;
    give.to_row = kTokens * 2 * kTokenBytes;
    return give;
  }

  cudaError_t Ask(int rank, const RankGive& give) {
    void* const stream = streams_[static_cast<size_t>(rank)].view().handle();
    return static_cast<cudaError_t>(library_->give_to_ranks(give, stream));
  }

  const CudaLibraryTable* library_ = nullptr;
  std::vector<PinnedBuffer> given_up_;
  std::vector<CudaStream> streams_;
  std::vector<RankMemory> ranks_;
};

TEST_F(RankGiveTest, EachHasTheTokensOfAllAfterEveryExchange) {
  for (int64_t time = 0; time < kTimes; ++time) {
    for (const int rank : {0, 1}) ASSERT_EQ(Ask(rank, Of(rank, time)), cudaSuccess);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const RankMemory& rank : ranks_) {
    std::vector<unsigned char> read(static_cast<size_t>(kTimes * kPlaceBytes));
    ASSERT_EQ(cudaMemcpy(read.data(), rank.places[0].data(), read.size(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    for (int64_t i = 0; i < kTimes * kPlaceBytes; ++i) {
      const int64_t token = i / (2 * kTokenBytes) % kTokens;
      const bool is_key = i / kTokenBytes % 2 == 0;
      ASSERT_EQ(read[static_cast<size_t>(i)],
                TagOf(i / kPlaceBytes, token < kOwn[0] ? 0 : 1, is_key))
          << "at " << i;
    }
  }
}

TEST_F(RankGiveTest, WhoIsGivenUpWaitsForNobody) {
  std::memset(given_up_[0].data(), 1, sizeof(uint32_t));
  ASSERT_EQ(Ask(0, Silent(0)), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
}  // namespace reel::kernels
