// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/unsent_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "server/errors/error.h"

namespace reel::front {
namespace {

class FakeRequest final : public UnsentRequest {
 public:
  void Abandon(const absl::Status& why) override {
    MutexLock lock(mutex_);
    why_ = why;
    changed_.NotifyAll();
  }
  bool abandoned() {
    MutexLock lock(mutex_);
    return why_.has_value();
  }
  absl::Status WaitUntilAbandoned() {
    MutexLock lock(mutex_);
    while (!why_) changed_.Wait(mutex_);
    return *why_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<absl::Status> why_ ABSL_GUARDED_BY(mutex_);
};

TEST(UnsentRequests, ARequestThatArrivesIsWaitedForNoLonger) {
  UnsentRequests requests;
  FakeRequest call;
  const int64_t ticket = requests.Enter(call, "a");
  EXPECT_EQ(requests.count(), 1U);
  EXPECT_TRUE(requests.Leave(ticket));
  EXPECT_EQ(requests.count(), 0U);
  EXPECT_FALSE(requests.Leave(ticket));
  EXPECT_FALSE(call.abandoned());
}

TEST(UnsentRequests, OneTooManyTakesTheOldestsPlace) {
  UnsentRequests requests({.calls = 2});
  FakeRequest first, second, third;
  const int64_t oldest = requests.Enter(first, "a");
  requests.Enter(second, "a");
  requests.Enter(third, "a");
  const absl::Status why = first.WaitUntilAbandoned();
  EXPECT_EQ(ReasonOf(why), Reason::kRequestNotReceived);
  EXPECT_TRUE(RetryAfterOf(why));
  EXPECT_FALSE(requests.Leave(oldest));
  EXPECT_FALSE(second.abandoned());
  EXPECT_FALSE(third.abandoned());
  EXPECT_EQ(requests.count(), 2U);
}

TEST(UnsentRequests, NobodyIsWaitedForForEver) {
  UnsentRequests requests({.calls = 10, .patience = absl::Milliseconds(20)});
  FakeRequest first, second;
  requests.Enter(first, "a");
  requests.Enter(second, "a");
  EXPECT_EQ(first.WaitUntilAbandoned().code(), absl::StatusCode::kUnavailable);
  (void)second.WaitUntilAbandoned();
  EXPECT_EQ(requests.count(), 0U);
}

TEST(UnsentRequests, AServerThatGoesDownWaitsForNobody) {
  UnsentRequests requests({.calls = 10, .patience = absl::Hours(1)});
  FakeRequest before, after;
  requests.Enter(before, "a");
  requests.Close();
  requests.Enter(after, "a");
  (void)before.WaitUntilAbandoned();
  (void)after.WaitUntilAbandoned();
}

TEST(UnsentRequests, AFloodTakesNoPlaceOfAnotherConnection) {
  UnsentRequests requests({.calls = 3});
  FakeRequest honest;
  requests.Enter(honest, "honest");
  FakeRequest flood[50];
  for (FakeRequest& call : flood) requests.Enter(call, "flood");
  EXPECT_FALSE(honest.abandoned());
  EXPECT_TRUE(flood[47].abandoned());
  EXPECT_FALSE(flood[48].abandoned());
  EXPECT_EQ(requests.count(), 3U);
  // One call each is all that a connection is sure of.
  FakeRequest second, third;
  requests.Enter(second, "second");
  EXPECT_FALSE(honest.abandoned());
  requests.Enter(third, "third");
  EXPECT_TRUE(honest.abandoned());
}

TEST(UnsentRequests, ThatWereEndedGiveTheirMemoryBack) {
  std::atomic<int> trims = 0;
  UnsentRequests requests({.calls = 1, .trim_delay = absl::Milliseconds(1)}, [&] { ++trims; });
  FakeRequest first, second, third;
  requests.Enter(first, "a");
  EXPECT_EQ(trims, 0);
  requests.Enter(second, "a");
  while (trims < 1) {
  }
  requests.Enter(third, "a");
  while (trims < 2) {
  }
}

}  // namespace
}  // namespace reel::front
