// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <utility>
#include <vector>

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

// A log that answers when the test says so.
class LateLog final : public LogPort {
 public:
  explicit LateLog(bool at_once = false) : at_once_(at_once) {}
  bool IsUp() const override { return true; }
  bool PostsAtOnce() const override { return at_once_; }
  absl::StatusOr<WriteResult> Write(const LogWrite&, absl::Duration) override {
    return absl::InternalError("it is only posted to");
  }
  void Post(LogWrite write, absl::Duration, Written done) override {
    const MutexLock lock(mutex_);
    posted_.push_back({std::move(write), std::move(done)});
    changed_.NotifyAll();
  }
  absl::StatusOr<uint64_t> Newest() override { return 1; }
  void SendBeat(const std::string&, const std::string&) override {}
  std::vector<std::string> TakeBeats() override { return {}; }

  // Until so many wait for an answer.
  void WaitFor(size_t count) {
    const MutexLock lock(mutex_);
    while (posted_.size() < count) changed_.Wait(mutex_);
  }
  // All of them.
  std::vector<LogWrite> Answer(const absl::StatusOr<WriteResult>& result) {
    std::vector<Posted> posted;
    {
      const MutexLock lock(mutex_);
      posted.swap(posted_);
    }
    std::vector<LogWrite> writes;
    for (Posted& one : posted) {
      writes.push_back(one.write);
      one.done(result);
    }
    return writes;
  }
  std::vector<LogWrite> Answer(WriteResult::Outcome outcome) {
    return Answer(WriteResult{outcome, 1});
  }
  size_t waiting() {
    const MutexLock lock(mutex_);
    return posted_.size();
  }

 private:
  struct Posted {
    LogWrite write;
    Written done;
  };
  const bool at_once_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Posted> posted_ ABSL_GUARDED_BY(mutex_);
};

TEST(WriteQueueTest, WhatCameMeanwhileIsPostedTogetherAndUnknownIsWrittenAgain) {
  LateLog log;
  std::atomic<int> won = 0;
  {
    WriteQueue queue(log, "a.1");
    const auto put = [&](uint32_t epoch) {
      queue.Put({"t", "prod-video", LogKind::kClaim, epoch}, "x", absl::Seconds(100),
                [&](const absl::StatusOr<WriteResult>& written) { won += written.ok() ? 1 : 0; });
    };
    put(1);
    log.WaitFor(1);
    for (uint32_t epoch = 2; epoch <= 6; ++epoch) put(epoch);
    EXPECT_EQ(log.Answer(WriteResult::Outcome::kWon).size(), 1U);
    log.WaitFor(5);
    EXPECT_EQ(log.Answer(WriteResult::Outcome::kUnknown).size(), 5U);
    log.WaitFor(5);
    const std::vector<LogWrite> again = log.Answer(WriteResult::Outcome::kWon);
    EXPECT_EQ(again.size(), 5U);
    for (const LogWrite& write : again) EXPECT_TRUE(write.repeated);
    EXPECT_EQ(queue.counts().won, 6);
  }
  EXPECT_EQ(won, 6);
}

TEST(WriteQueueTest, ALogThatTakesAtOnceHasEachWithoutAWayOverAThread) {
  LateLog log(/*at_once=*/true);
  std::atomic<int> won = 0;
  {
    WriteQueue queue(log, "a.1");
    for (uint32_t epoch = 1; epoch <= 3; ++epoch) {
      queue.Put({"t", "prod-video", LogKind::kClaim, epoch}, "x", absl::InfiniteDuration(),
                [&](const absl::StatusOr<WriteResult>& written) { won += written.ok() ? 1 : 0; });
      EXPECT_EQ(log.waiting(), epoch);
    }
    // A full disk is waited for.
    EXPECT_EQ(log.Answer(absl::ResourceExhaustedError("full")).size(), 3U);
    log.WaitFor(3);
    EXPECT_EQ(won, 0);
    log.Answer(WriteResult::Outcome::kWon);
    queue.WaitForTries();
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.counts().won, 3);
  }
  EXPECT_EQ(won, 3);
}

}  // namespace
}  // namespace reel::front
