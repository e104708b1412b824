// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>

namespace reel::front {
namespace {

// A log that gives no answer while it is silent.
class SilentLog final : public LogPort {
 public:
  bool IsUp() const override { return true; }
  absl::StatusOr<WriteResult> Write(const LogWrite&, absl::Duration) override {
    ++tries;
    const auto outcome = silent ? WriteResult::Outcome::kUnknown : WriteResult::Outcome::kWon;
    return WriteResult{outcome, 1};
  }
  absl::StatusOr<uint64_t> Newest() override { return 1; }
  void SendBeat(const std::string&, const std::string&) override {}
  std::vector<std::string> TakeBeats() override { return {}; }

  std::atomic<bool> silent = false;
  std::atomic<int> tries = 0;
};

TEST(WriteQueueTest, EachIsTriedOnceBeforeWhoWaitsForThatGoesOn) {
  SilentLog log;
  WriteQueue queue(log, "a.1");
  queue.WaitForTries();  // for nothing
  std::atomic<int> won = 0;
  for (int i = 1; i <= 20; ++i) {
    queue.Put({"t", "prod-video", LogKind::kClaim, 1}, "x", absl::Seconds(10),
              [&](const absl::StatusOr<WriteResult>& written) { won += written.ok() ? 1 : 0; });
    queue.WaitForTries();
    EXPECT_EQ(won, i);
  }
  log.silent = true;
  const int tries_before = log.tries;
  queue.Put({"t", "prod-video", LogKind::kClaim, 2}, "x", absl::InfiniteDuration(), [](auto) {});
  queue.WaitForTries();
  EXPECT_GE(log.tries, tries_before + 1);
  EXPECT_EQ(queue.size(), 1U);  // an answer is yet to come
}

}  // namespace
}  // namespace reel::front
