// SPDX-License-Identifier: Apache-2.0
// In a pool of several kinds a video takes longer at one worker than at another: that it was put
// there changes nothing of who goes before whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/jobs/mixed_pool_run.h"

namespace reel::front {
namespace {

class MixedOrderTest : public MixedPoolRun {
 protected:
  static constexpr int kVideos = 24;
  static std::string Prompt(int i) { return absl::StrCat("fox ", 100 + i); }
  // They come sooner than they are made.
  void QueueAll() {
    AddPool(2);
    for (int i = 0; i < kVideos; ++i) {
      Queue(Long(Prompt(i)));
      for (int step = 0; step < 4; ++step) Step();
    }
  }
  size_t MostHeld() const {
    size_t most = 0;
    for (const auto& [name, worker] : scheduler_->fleet().workers()) {
      most = std::max(most, worker.held.size());
    }
    return most;
  }
  // How many that came later began before it.
  int PassedBy(int i) const {
    int later = 0;
    for (int other = i + 1; other < kVideos; ++other) {
      later += began_.at(Prompt(other)) < began_.at(Prompt(i)) ? 1 : 0;
    }
    return later;
  }
};

TEST_F(MixedOrderTest, ASlowWorkerIsNotGivenTheWholeQueue) {
  QueueAll();
  size_t most = MostHeld();
  while (Step()) most = std::max(most, MostHeld());
  EXPECT_EQ(most, 2U);  // one that it steps, and the next
}

TEST_F(MixedOrderTest, EqualVideosBeginAsTheyCame) {
  QueueAll();
  RunUntilEnded(kVideos);
  ASSERT_EQ(ended_.size(), static_cast<size_t>(kVideos));
  // The next one of a slow worker may wait for as long as the group makes two.
  for (int i = 0; i < kVideos; ++i) EXPECT_LE(PassedBy(i), 2) << Prompt(i);
}

}  // namespace
}  // namespace reel::front
