// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "server/front/health/health_board.h"

namespace reel::front {
namespace {

class Bell final : public HealthWatcher {
 public:
  void HealthChanged() override {
    MutexLock lock(mutex_);
    ++rings_;
    rung_.NotifyAll();
  }
  template <typename F>
  void WaitUntil(const F& condition) {
    MutexLock lock(mutex_);
    while (!condition()) rung_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar rung_;
  int rings_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(HealthMonitor, FollowsTheTruth) {
  HealthBoard board;
  auto bell = std::make_shared<Bell>();
  board.Watch(bell);
  std::atomic<bool> admitting = false, warm = false;
  const HealthMonitor monitor(
      board, [&] { return admitting.load(); }, [&] { return warm.load(); }, absl::Milliseconds(1));
  admitting = true;
  bell->WaitUntil([&] { return board.Serving("") == true; });
  EXPECT_EQ(board.Serving("startup"), false);
  admitting = false;
  bell->WaitUntil([&] { return board.Serving("") == false; });
  warm = true;
  bell->WaitUntil([&] { return board.Serving("startup") == true; });
}

}  // namespace
}  // namespace reel::front
